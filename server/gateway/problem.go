package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// problem is an answer of the gateway itself that is not about limits, as
// application/problem+json (RFC 9457).
type problem struct {
	status int
	retry  string // Retry-After, in seconds; may be empty
	body   []byte
	length []string
}

func newProblem(status int, word, detail, retry string) *problem {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"urn:sluice:problem:" + word, http.StatusText(status), status, detail})
	if err != nil {
		body = []byte(`{"type":"about:blank"}`) // cannot be: the fields are text and numbers
	}
	body = append(body, '\n')
	return &problem{status, retry, body, []string{strconv.Itoa(len(body))}}
}

// What can be wrong. Nothing in it tells a client of what stands behind the gateway.
var (
	errMethod    = newProblem(http.StatusMethodNotAllowed, "method-not-allowed", "this method is not passed on", "")
	errTarget    = newProblem(http.StatusBadRequest, "invalid-target", "the target of the request is no path", "")
	errAmbiguous = newProblem(http.StatusBadRequest, "ambiguous-path", "the path can be read in more than one way", "")
	errNoRoute   = newProblem(http.StatusNotFound, "no-route", "nothing is served under this host and path", "")
	errTooLarge  = newProblem(http.StatusRequestEntityTooLarge, "body-too-large", "the body of the request is longer than is admitted", "")
	errTooSlow   = newProblem(http.StatusRequestTimeout, "body-too-slow", "the body of the request did not come in time", "")
	errMalformed = newProblem(http.StatusBadRequest, "invalid-body", "the body of the request ends too early, or is not well formed", "")
	errBusy      = newProblem(http.StatusServiceUnavailable, "overloaded", "there are more requests than can be worked on", "1")
	errNoServer  = newProblem(http.StatusServiceUnavailable, "no-server", "no server can answer at the moment", "1")
	errUnreached = newProblem(http.StatusBadGateway, "unreachable", "the server could not be reached", "")
	errNoAnswer  = newProblem(http.StatusBadGateway, "no-answer", "the server gave no answer", "")
	errGarbled   = newProblem(http.StatusBadGateway, "invalid-answer", "the server's answer cannot be read", "")
	errLate      = newProblem(http.StatusGatewayTimeout, "timeout", "the server took too long", "")
)

// problemOf words the failure of the last server that was tried.
func (u *upstream) problemOf(kind string) *problem {
	switch kind {
	case notSent:
		return errUnreached
	case tooLate:
		return errLate
	case garbled:
		return errGarbled
	}
	return errNoAnswer
}

// fail answers with a problem.
func (x *exchange) fail(w http.ResponseWriter, p *problem) {
	h := w.Header()
	h["Content-Type"] = []string{"application/problem+json"}
	h["Cache-Control"] = []string{"no-store"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	if p.retry != "" {
		h["Retry-After"] = []string{p.retry}
	}
	if x.wrong.Load() != nil {
		h["Connection"] = []string{"close"} // the rest of the body is not wanted
	}
	h["Content-Length"] = p.length
	x.extend()
	w.WriteHeader(p.status)
	if x.method != http.MethodHead {
		_, _ = w.Write(p.body) // the client may be gone
	}
}
