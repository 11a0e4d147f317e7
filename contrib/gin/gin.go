// Package sluicegin limits requests to a gin engine.
//
// There are three rungs, those of package httplimit in gin's own manner: so many
// requests per client address ([ByIP]), any limits per any key ([Middleware]), or what
// an engine and its rules say ([Rules]). They take all options of httplimit; [KeyBy],
// [User] and [Denied] are such that are given a *gin.Context, and [Context] finds it
// for the others.
//
// A refused request is answered by httplimit and aborted: no later handler runs. An
// allowed one runs on with gin's own ResponseWriter.
//
// # Addresses
//
// The client's address is what httplimit says, not gin's ClientIP. That one believes
// X-Forwarded-For and X-Real-IP from everybody until SetTrustedProxies is called, so
// that a client gets a fresh budget by writing another address. httplimit believes no
// header until an option names the proxies: httplimit.TrustProxies and its neighbours.
package sluicegin

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
)

// ByIP lets every client address have limit, in this process.
func ByIP(limit sluice.Limit, opts ...httplimit.KeyedOption) gin.HandlerFunc {
	return handler(httplimit.ByIP(limit, opts...))
}

// Middleware limits requests by keyed: per client address, or as KeyBy says.
func Middleware(keyed *sluice.Keyed, opts ...httplimit.KeyedOption) gin.HandlerFunc {
	return handler(httplimit.Middleware(keyed, opts...))
}

// Rules limits requests by the rules of e.
func Rules(e *engine.Engine, opts ...httplimit.RulesOption) gin.HandlerFunc {
	return handler(httplimit.Rules(e, opts...))
}

// KeyBy says whose budget a request is charged to. A request with an empty key or an
// error is refused with status 400.
func KeyBy(f func(c *gin.Context) (string, error)) httplimit.KeyedOption {
	return httplimit.KeyBy(func(r *http.Request) (string, error) { return f(Context(r)) })
}

// User says who sent a request, for rules with user in their key.
func User(f func(c *gin.Context) string) httplimit.RulesOption {
	return httplimit.User(func(r *http.Request) string { return f(Context(r)) })
}

// Denied answers refused requests instead of httplimit. The header fields are set
// already; httplimit.Status returns the usual status.
func Denied(answer func(c *gin.Context, d engine.Decision)) httplimit.Option {
	return httplimit.Denied(func(_ http.ResponseWriter, r *http.Request, d engine.Decision) { answer(Context(r), d) })
}

// Context returns the gin context of a request that this package has passed on to an
// option of httplimit, or nil of any other. gin uses it again for another request: it
// must not be kept.
func Context(r *http.Request) *gin.Context {
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		return p.c
	}
	return nil
}

// passage is one request on its way through the limit. It travels in the context of
// the request, since a limit is made once and knows no gin context.
type passage struct {
	c      *gin.Context
	passed bool
}

type passageKey struct{}

// handler makes a gin handler of a net/http middleware.
func handler(limit func(http.Handler) http.Handler) gin.HandlerFunc {
	limited := limit(http.HandlerFunc(next))
	return func(c *gin.Context) {
		p := &passage{c: c}
		limited.ServeHTTP(c.Writer, c.Request.WithContext(context.WithValue(c.Request.Context(), passageKey{}, p)))
		if !p.passed {
			c.Abort()
		}
	}
}

// next runs the handlers behind the limit.
func next(_ http.ResponseWriter, r *http.Request) {
	p := r.Context().Value(passageKey{}).(*passage)
	p.passed, p.c.Request = true, r
	p.c.Next()
}
