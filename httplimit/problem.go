package httplimit

import (
	"encoding/json"
	"strconv"

	"github.com/sluice-limiter/sluice"
)

const problemTypes = "https://iana.org/assignments/http-problem-types#"

// problemOf names the problem type of a reason. Others have none of their own.
func problemOf(reason sluice.Reason) string {
	switch reason {
	case sluice.Limited, sluice.Never:
		return problemTypes + "quota-exceeded"
	case sluice.Banned:
		return problemTypes + "abnormal-usage-detected"
	case sluice.Unavailable:
		return problemTypes + "temporary-reduced-capacity"
	}
	return "about:blank"
}

// problem writes the reply as application/problem+json (RFC 9457).
func problem(a *answer, retry int64) []byte {
	body := struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Status   int      `json:"status"`
		Detail   string   `json:"detail,omitempty"`
		Violated []string `json:"violated-policies,omitempty"`
	}{Type: problemOf(a.Reason), Title: titles[a.Reason], Status: Status(a.Decision.Decision)}
	if retry > 0 {
		body.Detail = "Try again in " + strconv.FormatInt(retry, 10) + " s."
	}
	if a.limit != nil {
		body.Violated = []string{a.limit.name}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return []byte(`{"type":"about:blank"}`) // cannot be: the fields are text and numbers
	}
	return append(text, '\n')
}
