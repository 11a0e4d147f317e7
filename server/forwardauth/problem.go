package forwardauth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// problem is the body of an answer that is not about limits, as
// application/problem+json (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`         // what is wrong
	Hint   string `json:"hint,omitempty"` // what to do
}

func newProblem(status int, word, detail, hint string) *problem {
	return &problem{"urn:sluice:problem:" + word, http.StatusText(status), status, detail, hint}
}

func unknownDialect(path string) *problem {
	var paths []string
	for _, d := range dialects {
		paths = append(paths, Prefix+d.name)
	}
	return newProblem(http.StatusNotFound, "not-found", fmt.Sprintf("there is nothing at %.200q", path), "use "+strings.Join(paths, ", "))
}

func untrusted(peer netip.Addr) *problem {
	return newProblem(http.StatusForbidden, "untrusted-proxy", fmt.Sprintf("%v is not a proxy that may ask here", peer),
		"if it is yours, add its address to forward_auth.trusted (SLUICE_FORWARD_AUTH_TRUSTED, --forward-auth-trusted)")
}

// misconfigured is about a field that the proxy has to set. A client cannot cause it.
func (d *dialect) misconfigured(field string, lines int) *problem {
	how := "is missing or cannot be read"
	if lines > 1 {
		how = "is there " + strconv.Itoa(lines) + " times"
	}
	return newProblem(http.StatusInternalServerError, "misconfigured-proxy", "the header field "+field+" "+how,
		"the proxy has to set it for every request, over what clients send: docs/FORWARD-AUTH.md has the settings for "+d.name)
}

func badTarget() *problem {
	return newProblem(http.StatusBadRequest, "invalid-target", "the target of the request is no path", "")
}

func overloaded() *problem {
	return newProblem(http.StatusServiceUnavailable, "overloaded", "the limiter has more requests than it takes", "")
}

// fail answers with a problem.
func fail(w http.ResponseWriter, p *problem) {
	h := w.Header()
	h["Content-Type"] = []string{"application/problem+json"}
	h["Cache-Control"] = []string{"no-store"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	if p.Status == http.StatusServiceUnavailable {
		h["Retry-After"] = []string{"1"}
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"type":"about:blank"}`) // cannot be: the fields are text and numbers
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the proxy may be gone
}
