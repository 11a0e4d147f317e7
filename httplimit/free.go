package httplimit

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Health lets GET and HEAD of these paths pass unlimited. A request has to name a path
// exactly so; other ways to write it are limited as everything else is.
func Health(paths ...string) Option {
	for _, p := range paths {
		if !strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.ContainsAny(p, `%;\?#`) {
			panic("httplimit: Health: " + strconv.Quote(p) + " is no plain path (write one such as /healthz)")
		}
	}
	return option(func(c *config) { c.health = append(c.health, paths...) })
}

// Free lets requests pass unlimited for which f is true. Be sure that a client cannot
// choose what f looks at.
func Free(f func(*http.Request) bool) Option {
	return option(func(c *config) { c.free = f })
}

// CountPreflight limits CORS preflight requests as well. They are free by default if
// they have neither credentials nor a body, since a browser sends them on its own and
// shows the user nothing of a refusal.
func CountPreflight() Option {
	return option(func(c *config) { c.countPreflight = true })
}

// isFree reports whether r passes without being counted.
func (c *config) isFree(r *http.Request) bool {
	if r.Method == http.MethodOptions && !c.countPreflight && isPreflight(r) {
		return true
	}
	if len(c.health) > 0 && c.isHealth(r) {
		return true
	}
	return c.free != nil && c.free(r)
}

// isPreflight reports whether r is what a browser asks on its own. That never has
// credentials or a body: with these, a handler that does not look at the method would
// be asked in earnest.
func isPreflight(r *http.Request) bool {
	h := r.Header
	return len(h["Access-Control-Request-Method"]) > 0 && len(h["Origin"]) > 0 &&
		len(h["Authorization"]) == 0 && len(h["Cookie"]) == 0 && r.ContentLength == 0
}

// isHealth compares the path as it was sent: RawPath is empty only if that is how
// Path is always written.
func (c *config) isHealth(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.URL.RawPath == "" && slices.Contains(c.health, r.URL.Path)
}
