package app

import (
	"net/http"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/server/forwardauth"
)

// guard stands before the API: it times decisions, and lets the API of the tokens in
// force answer. Proxies ask beside it, without tokens.
func (a *App) guard() http.Handler {
	door := a.metrics.Door("http")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r)
		if strings.HasPrefix(r.URL.Path, forwardauth.Prefix) {
			a.forwardAuth.ServeHTTP(w, r)
			return
		}
		next := *a.handler.Load()
		switch r.URL.Path {
		case "/v1/check", "/v1/reserve":
			start := now()
			next.ServeHTTP(w, r)
			door.Observe(time.Since(start).Seconds())
		default:
			next.ServeHTTP(w, r)
		}
	})
}
