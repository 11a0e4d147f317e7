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

// problem writes the reply as application/problem+json (RFC 9457). By hand: refusals come
// by the thousand, and encoding/json would be the dearest part of one.
func problem(a *answer, retry int64) []byte {
	b := make([]byte, 0, 256)
	b = append(b, `{"type":"`...)
	b = append(b, problemOf(a.Reason)...)
	b = append(b, `","title":`...)
	b = appendText(b, titles[a.Reason])
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(Status(a.Decision.Decision)), 10)
	if retry > 0 {
		b = append(b, `,"detail":"Try again in `...)
		b = strconv.AppendInt(b, retry, 10)
		b = append(b, ` s."`...)
	}
	if a.limit != nil {
		b = append(b, `,"violated-policies":[`...)
		b = appendText(b, a.limit.name)
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

// appendText writes a text as JSON does, at once if nothing in it has to be escaped.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(text) // a text can always be written
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
