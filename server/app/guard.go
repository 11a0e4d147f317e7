package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

// guard stands before the API: it sheds what is too much, and times decisions.
func (a *App) guard() http.Handler {
	door := a.metrics.Door("http")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := *a.handler.Load()
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics", "/v1/events": // few, and needed most when there is too much
			next.ServeHTTP(w, r)
			return
		}
		permit, ok := a.inFlight.Allow()
		if !ok {
			a.metrics.Shed()
			shed(w)
			return
		}
		defer permit.Release()
		switch r.URL.Path {
		case "/v1/check", "/v1/reserve":
			timed(next, door, w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// timed measures what a request for a decision takes.
func timed(next http.Handler, door prometheus.Observer, w http.ResponseWriter, r *http.Request) {
	start := now()
	next.ServeHTTP(w, r)
	door.Observe(now().Sub(start).Seconds())
}

// overloaded is what a request gets that is too much.
const overloaded = `{"type":"urn:sluice:problem:overloaded","title":"Service Unavailable","status":503,"detail":"too many requests are in flight at this server","hint":"try again after a second, or raise limits.in_flight"}` + "\n"

func shed(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(overloaded))
}
