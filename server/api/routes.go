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
	body   bool // takes its place in flight when it has read the body
	free   bool // needs no place: few ask, and they need it most when there is too much
}

// methods are the routes of one path.
type methods []route

// namedRules begins the path of a single rule. Names may contain slashes.
const namedRules = "/v1/rules/"

// What ends the paths of a rule's preview and record: no rule whose name ends so can be
// shown.
const (
	previewOf = "/preview"
	recordOf  = "/record"
)

// routes lists all endpoints.
func (h *handler) routes() []route {
	all := []route{
		{method: "POST", path: "/v1/check", handle: h.check, body: true},
		{method: "POST", path: "/v1/explain", handle: h.explain, body: true},
		{method: "POST", path: "/v1/peek", handle: h.peek, body: true},
		{method: "POST", path: "/v1/reset", handle: h.reset, body: true},
		{method: "POST", path: "/v1/refund", handle: h.refund, body: true},
		{method: "POST", path: "/v1/reserve", handle: h.reserve, body: true},
		{method: "POST", path: "/v1/commit", handle: h.commit, body: true},
		{method: "GET", path: "/v1/rules", handle: h.rules},
		{method: "GET", path: "/v1/rules/{name}", handle: h.rule},
		{method: "GET", path: "/v1/rules/{name}/preview", handle: h.preview},
		{method: "GET", path: "/v1/rules/{name}/record", handle: h.record},
		{method: "POST", path: "/v1/rules/validate", handle: h.validate, body: true},
		{method: "POST", path: "/v1/rules/rollback", handle: h.rollback},
		{method: "POST", path: "/v1/reload", handle: h.reload},
		{method: "PUT", path: "/v1/shadow-all", handle: h.shadowAll, body: true},
		{method: "GET", path: "/v1/stats", handle: h.stats},
		{method: "GET", path: "/v1/top", handle: h.top},
		{method: "GET", path: "/v1/decisions", handle: h.decisions},
		{method: "GET", path: "/v1/audit", handle: h.audit},
		{method: "GET", path: "/v1/events", handle: h.events, free: true},
		{method: "GET", path: "/v1/openapi.json", handle: h.openapi, public: true},
		{method: "GET", path: "/healthz", handle: h.health, public: true, free: true},
		{method: "GET", path: "/readyz", handle: h.ready, public: true, free: true},
	}
	if h.options.Metrics != nil {
		all = append(all, route{method: "GET", path: "/metrics", handle: h.options.Metrics.ServeHTTP, free: true})
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
	case !found.public && !addressed(r, h.options.Tokens):
		fail(w, unknownHost(r))
	case !found.public && !authorized(r, h.options.Tokens):
		w.Header().Set("WWW-Authenticate", `Bearer realm="sluice"`)
		fail(w, unauthorized(r))
	case fromPage(r) && h.origin.Check(r) != nil:
		fail(w, crossOrigin())
	default:
		h.serve(found, w, r)
	}
}

// serve lets an endpoint answer, if there is a place for it.
func (h *handler) serve(found *route, w http.ResponseWriter, r *http.Request) {
	if h.options.Authorized != nil && !found.public {
		h.options.Authorized(r)
	}
	if !found.body && !found.free {
		if !h.options.Places.Enter() {
			fail(w, overloaded())
			return
		}
		defer h.options.Places.Leave()
	}
	h.traced(found, w, r)
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
		for _, end := range []string{previewOf, recordOf} {
			if strings.HasSuffix(path[len(namedRules):], end) {
				named = h.paths[namedRules+"{name}"+end]
			}
		}
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
