package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// route is one endpoint.
type route struct {
	method string
	path   string
	handle http.HandlerFunc
	public bool // asks for no token
}

// methods are the routes of one path.
type methods []route

// namedRules begins the path of a single rule. Names may contain slashes.
const namedRules = "/v1/rules/"

// routes lists all endpoints.
func (h *handler) routes() []route {
	all := []route{
		{method: "POST", path: "/v1/check", handle: h.check},
		{method: "POST", path: "/v1/explain", handle: h.explain},
		{method: "POST", path: "/v1/peek", handle: h.peek},
		{method: "POST", path: "/v1/reset", handle: h.reset},
		{method: "POST", path: "/v1/refund", handle: h.refund},
		{method: "POST", path: "/v1/reserve", handle: h.reserve},
		{method: "POST", path: "/v1/commit", handle: h.commit},
		{method: "GET", path: "/v1/rules", handle: h.rules},
		{method: "GET", path: "/v1/rules/{name}", handle: h.rule},
		{method: "POST", path: "/v1/rules/validate", handle: h.validate},
		{method: "POST", path: "/v1/reload", handle: h.reload},
		{method: "PUT", path: "/v1/shadow-all", handle: h.shadowAll},
		{method: "GET", path: "/v1/stats", handle: h.stats},
		{method: "GET", path: "/v1/top", handle: h.top},
		{method: "GET", path: "/v1/decisions", handle: h.decisions},
		{method: "GET", path: "/v1/audit", handle: h.audit},
		{method: "GET", path: "/v1/events", handle: h.events},
		{method: "GET", path: "/v1/openapi.json", handle: h.openapi, public: true},
		{method: "GET", path: "/healthz", handle: h.health, public: true},
		{method: "GET", path: "/readyz", handle: h.ready, public: true},
	}
	if h.options.Metrics != nil {
		all = append(all, route{method: "GET", path: "/metrics", handle: h.options.Metrics.ServeHTTP})
	}
	return all
}

func byPath(all []route) map[string]methods {
	paths := make(map[string]methods, len(all))
	for _, r := range all {
		paths[r.path] = append(paths[r.path], r)
	}
	return paths
}

// ServeHTTP finds the endpoint, asks whether it is meant and for a token, and lets it
// answer.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recover(w, r)
	found, allow := h.find(r.Method, r.URL.Path)
	switch {
	case found == nil && allow == "":
		fail(w, notFound(r.URL.Path))
	case found == nil:
		w.Header().Set("Allow", allow)
		fail(w, notAllowed(r, allow))
	case !found.public && !h.addressed(r):
		fail(w, unknownHost(r))
	case !found.public && !h.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="sluice"`)
		fail(w, unauthorized(r))
	case h.origin.Check(r) != nil:
		fail(w, crossOrigin())
	default:
		found.handle(w, r)
	}
}

// find returns the route, or else the methods that the path has. Without any the path
// does not exist.
func (h *handler) find(method, path string) (found *route, allow string) {
	here := h.paths[path]
	if found = here.get(method); found != nil {
		return found, ""
	}
	if len(path) > len(namedRules) && strings.HasPrefix(path, namedRules) {
		named := h.paths[namedRules+"{name}"]
		if found = named.get(method); found != nil {
			return found, ""
		}
		here = slices.Concat(here, named)
	}
	return nil, here.allow()
}

func (m methods) get(method string) *route {
	if method == http.MethodHead { // net/http leaves the body out
		method = http.MethodGet
	}
	for i := range m {
		if m[i].method == method {
			return &m[i]
		}
	}
	return nil
}

// allow lists the methods as the header field wants them.
func (m methods) allow() string {
	var names []string
	for _, r := range m {
		names = append(names, r.method)
		if r.method == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// recover answers for a handler that panicked, which is a fault of ours.
func (h *handler) recover(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	h.options.Logger.ErrorContext(r.Context(), "sluice: a handler panicked",
		"path", r.URL.Path, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	fail(w, internal())
}
