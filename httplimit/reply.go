package httplimit

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice"
)

// refuse answers a denial.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, a *answer) {
	h := w.Header()
	// What others have said of the answer that they expected. Content-Encoding stays: who
	// has set it compresses what is written here too.
	delete(h, "Etag")
	delete(h, "Last-Modified")
	retry := tellRetry(h, &a.Decision.Decision, g.config.jitter)
	h["Cache-Control"] = []string{"no-store"} // what is true of one client is not of the next
	if g.config.denied != nil {
		g.config.denied(w, r, a.Decision)
		return
	}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	var body []byte
	if !g.config.noPage && prefersHTML(r.Header["Accept"]) {
		body = page(a.Reason, retry, r.Method == http.MethodGet || r.Method == http.MethodHead)
		h["Content-Type"] = []string{"text/html; charset=utf-8"}
		h["Content-Security-Policy"] = []string{pagePolicy}
	} else {
		body = problem(a, retry)
		h["Content-Type"] = []string{"application/problem+json"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(Status(a.Decision.Decision))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

// prefersHTML reports whether text/html is asked for by name, and nothing that we
// could send as JSON is wanted more, or as much and before it.
func prefersHTML(accept []string) bool {
	html, json := 0.0, 0.0
	for _, line := range accept {
		for entry := range strings.SplitSeq(line, ",") {
			kind, params, _ := strings.Cut(entry, ";")
			q := quality(params)
			switch kind = strings.Trim(kind, " \t"); {
			case strings.EqualFold(kind, "text/html"):
				if html = max(html, q); html <= json {
					html = 0
				}
			case strings.EqualFold(kind, "application/json"), strings.EqualFold(kind, "application/problem+json"):
				if json = max(json, q); json > html {
					html = 0
				}
			}
		}
	}
	return html > 0
}

// quality reads q= of an Accept entry: 1 without it, 0 if it cannot be read.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.Trim(p, " \t"), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}

// titles say what happened, by reason.
var titles = map[sluice.Reason]string{
	sluice.Limited:     "Too many requests",
	sluice.Never:       "This request is larger than its limit can ever admit",
	sluice.Banned:      "Requests are not admitted",
	sluice.Unavailable: "Temporarily not available",
	sluice.NoRule:      "Nothing admits this request",
	sluice.MissingKey:  "The request does not tell whom to charge",
	sluice.Ambiguous:   "The path can be read in more than one way",
}
