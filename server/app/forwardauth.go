package app

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice/server/forwardauth"
)

// newForwardAuth returns what answers proxies that ask before they let a request pass.
func (a *App) newForwardAuth() (http.Handler, error) {
	trusted, err := a.config.ForwardAuth.Trusted.Prefixes()
	if err != nil {
		return nil, err
	}
	// Where nobody asks there is no such door in the metrics.
	door := sync.OnceValue(func() prometheus.Observer { return a.metrics.Door("forward_auth") })
	next := forwardauth.New(a.engine, forwardauth.Options{Trusted: trusted, Places: a.places, Known: keepConn, Logger: a.logger})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := now()
		next.ServeHTTP(w, r)
		door().Observe(time.Since(start).Seconds())
	}), nil
}
