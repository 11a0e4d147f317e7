// Package forwardauth answers proxies that ask before they let a request pass: nginx
// with auth_request, Caddy with forward_auth, Traefik with ForwardAuth. Each describes
// the request in header fields of its own; what the rules then say, and what the client
// is told, is as with httplimit in front of the service itself.
package forwardauth

import (
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
)

// Prefix begins the paths of all endpoints: the name of a dialect follows.
const Prefix = "/forward-auth/"

// Options sets up the handler.
type Options struct {
	// Trusted are the networks of the proxies, checked by httplimit.ParsePrefixes. What
	// anybody else says about a request is not believed. Without any nobody may ask.
	Trusted []netip.Prefix

	Places Places              // nil: any number of requests is worked on at the same time
	Known  func(*http.Request) // if not nil, told of every request of a proxy that may ask
	Logger *slog.Logger        // of proxies that are not set up right
}

// Places bounds how many requests are worked on at the same time. Who may Enter has to
// Leave.
type Places interface {
	Enter() bool
	Leave()
}

// handler answers for all dialects.
type handler struct {
	options  Options
	peer     func(*http.Request) netip.Addr // who is at the other end of the connection
	limits   map[*dialect]http.Handler
	warnings *sluice.Limiter // a wrong setting is wrong for every request, and said now and then
}

// New returns what answers at the paths that begin with Prefix, by the rules of e. It
// asks for no token.
func New(e *engine.Engine, o Options) http.Handler {
	h := &handler{
		options: o, peer: httplimit.ClientAddress(), limits: map[*dialect]http.Handler{},
		warnings: sluice.NewLimiter(sluice.PerMinute(6)),
	}
	if h.options.Logger == nil {
		h.options.Logger = slog.New(slog.DiscardHandler)
	}
	if len(o.Trusted) == 0 {
		return h
	}
	for i := range dialects {
		d := &dialects[i]
		h.limits[d] = httplimit.Rules(e, d.options(o.Trusted)...)(http.HandlerFunc(allow))
	}
	return h
}

// allow answers for a request that may pass. The header fields are there already.
func allow(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := dialectAt(r.URL.Path)
	if d == nil {
		fail(w, unknownDialect(r.URL.Path))
		return
	}
	if peer := h.peer(r); !h.trusts(peer) {
		h.complain(w, d, untrusted(peer))
		return
	}
	if h.options.Known != nil {
		h.options.Known(r)
	}
	original, wrong := d.original(r)
	if wrong != nil && wrong.Status == http.StatusInternalServerError {
		h.complain(w, d, wrong)
		return
	}
	answer := d.translate(w, original)
	h.decide(d, answer, original, wrong)
	answer.finish()
}

// decide lets the rules answer, if the request is one and there is a place for it.
func (h *handler) decide(d *dialect, w http.ResponseWriter, original *http.Request, wrong *problem) {
	if wrong != nil {
		fail(w, wrong)
		return
	}
	if h.options.Places != nil {
		if !h.options.Places.Enter() {
			fail(w, overloaded())
			return
		}
		defer h.options.Places.Leave()
	}
	h.limits[d].ServeHTTP(w, original)
}

func (h *handler) trusts(peer netip.Addr) bool {
	for _, p := range h.options.Trusted {
		if p.Contains(peer) {
			return true
		}
	}
	return false
}

// complain answers for a proxy that is not set up right, and says so in the log, which
// is where its operator looks: nginx shows nobody the answer.
func (h *handler) complain(w http.ResponseWriter, d *dialect, p *problem) {
	if h.warnings.Allow() {
		h.options.Logger.Warn("forward-auth: "+p.Detail, "dialect", d.name, "hint", p.Hint)
	}
	fail(w, p)
}
