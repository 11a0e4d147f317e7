package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// forward sends a request on that the rules have let pass, and its answer back.
func (g *Gateway) forward(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r)
	if x.ahead {
		return // the server has to read the request first
	}
	if x.gone {
		w.WriteHeader(statusClientGone)
		return
	}
	if g.options.Known != nil {
		g.options.Known(r)
	}
	o, p := x.plan(g.table.Load())
	if p != nil {
		x.fail(w, p)
		return
	}
	leave, p := o.route.upstream.enter(r.Context())
	if p != nil {
		x.fail(w, p)
		return
	}
	defer leave()
	x.extend()                                     // waiting for all this is not the client's fault
	if r.ContentLength != 0 && r.ProtoMajor == 1 { // else an answer could not begin before the body has ended
		x.duplex = http.NewResponseController(x.ResponseWriter).EnableFullDuplex() == nil
	}
	if p := o.deliver(w); p != nil {
		x.fail(w, p)
	}
}

// outbound is a request on its way to an upstream.
type outbound struct {
	*exchange
	route   *route
	target  string // path and query
	host    string // empty: the server's own
	upgrade string // protocol that the client wants to change to; mostly empty
}

// plan finds out where a request goes, and what is wrong with it.
func (x *exchange) plan(t *table) (outbound, *problem) {
	r := x.request
	switch {
	case r.Method == http.MethodConnect, r.Method == http.MethodTrace:
		return outbound{}, errMethod
	case !strings.HasPrefix(x.path, "/"), strings.Contains(x.query, " "), strings.ContainsAny(r.Host, notInHost):
		return outbound{}, errTarget
	case r.ContentLength > int64(x.gateway.config.Limits.Body):
		x.wrong.Store(errTooLarge)
		return outbound{}, errTooLarge
	}
	route, ambiguous := t.find(r.Host, x.path)
	switch {
	case ambiguous:
		return outbound{}, errAmbiguous
	case route == nil:
		return outbound{}, errNoRoute
	}
	o := outbound{exchange: x, route: route, target: x.target(route), host: r.Host}
	if route.upstream.settings.RewriteHost {
		o.host = ""
	}
	o.upgrade = x.passOn()
	return o, nil
}

// notInHost are characters that HTTP/2 lets through in the name of a host, and HTTP/1 does
// not. It does the same with a space in a query, which would end the target there.
const notInHost = " \t\"#/<>?@\\^`{|}"

// target is path and query as the upstream gets them.
func (x *exchange) target(to *route) string {
	path := x.path
	if to.strip && to.prefix != "" {
		if !within(path, to.prefix) {
			path, _ = rule.CanonicalPath(path, false) // another way to write it
		}
		if path = strings.TrimPrefix(path, to.prefix); path == "" {
			path = "/"
		}
	}
	if x.query != "" || x.request.URL.ForceQuery {
		path += "?" + x.query
	}
	return path
}

// deliver sends the request to one server after the other, as long as that is safe, and
// the first answer back.
func (o *outbound) deliver(w http.ResponseWriter) *problem {
	u, ctx := o.route.upstream, o.request.Context()
	var tried []*server
	for {
		s := u.pick(tried)
		if s == nil && len(tried) == 0 {
			o.failure = "no_server"
			u.metrics.failed(o.failure)
			return errNoServer
		}
		if s == nil {
			return u.problemOf(o.failure)
		}
		o.upstream = s.name
		res, err := s.send(o, w)
		if err == nil {
			s.health.succeeded()
			o.failure = ""
			return o.answer(w, res, s)
		}
		if p := o.wrong.Load(); p != nil {
			return p
		}
		if ctx.Err() != nil {
			w.WriteHeader(statusClientGone)
			return nil
		}
		o.failure = kindOf(err)
		s.health.failed()
		u.metrics.failed(o.failure)
		u.logger.log(s.name, o.failure, err)
		if len(tried) >= *u.settings.Retries || !o.mayRetry(err) {
			return u.problemOf(o.failure)
		}
		tried = append(tried, s)
		u.metrics.retries.Inc()
	}
}

// statusClientGone is what many servers log for a client that did not wait for its
// answer. Nobody receives it.
const statusClientGone = 499

// mayRetry reports whether a request that failed may be sent to another server: if
// nothing of it was sent, or if nothing of an answer has come and to do it twice is as
// good as once. A body can be sent once.
func (o *outbound) mayRetry(err error) bool {
	var f *failure
	if !errors.As(err, &f) || o.received.Load() > 0 || o.upgrade != "" {
		return false
	}
	switch {
	case f.kind == notSent:
		return true
	case f.kind != noAnswer || o.request.ContentLength != 0:
		return false
	}
	switch o.request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}
