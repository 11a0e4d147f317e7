package httplimit

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
)

// ByIP lets every client address have limit, in this process. It is
// Middleware(sluice.NewKeyed(limit), opts...) and panics as that does if the limit is
// invalid.
func ByIP(limit sluice.Limit, opts ...KeyedOption) func(http.Handler) http.Handler {
	return Middleware(sluice.NewKeyed(limit), opts...)
}

// Middleware limits requests by keyed: per client address, or as [KeyBy] says. All
// handlers that it is put around share the budgets. Requests for a leaky bucket wait
// for their turn, others if [Wait] says so. It panics if keyed is nil.
func Middleware(keyed *sluice.Keyed, opts ...KeyedOption) func(http.Handler) http.Handler {
	if keyed == nil {
		panic("httplimit: Middleware: the Keyed is nil (make it with sluice.NewKeyed)")
	}
	c := newConfig()
	for _, o := range opts {
		o.applyKeyed(&c)
	}
	return around(guard{config: &c, keys: newKeys(keyed, &c)})
}

// Held returns what [Middleware] decides by, for doors of other protocols: it holds who
// may wait, as the options [Wait] and [MaxWaiters] say. It panics if keyed is nil.
func Held(keyed *sluice.Keyed, wait time.Duration, maxWaiters int) func(ctx context.Context, key string, cost int64) (sluice.Decision, error) {
	if keyed == nil {
		panic("httplimit: Held: the Keyed is nil (make it with sluice.NewKeyed)")
	}
	c := newConfig()
	c.wait, c.maxWaiters = wait, int64(maxWaiters)
	k := newKeys(keyed, &c)
	return func(ctx context.Context, key string, cost int64) (d sluice.Decision, err error) {
		err = k.ask(ctx, key, cost, &d)
		return d, err
	}
}

// HeldRules is [Held] for the rules of e. They say who may wait, and for how long; if wait
// is not 0, for no longer than that. Who is let in has to Leave. more says that it is about
// one more piece of what was let in: see [engine.Engine.More]. It panics if e is nil.
func HeldRules(e *engine.Engine, wait time.Duration) func(ctx context.Context, r *engine.Request, more bool) (engine.Entry, error) {
	if e == nil {
		panic("httplimit: HeldRules: the engine is nil (make it with engine.New)")
	}
	ask := func(ctx context.Context, r *engine.Request, more bool) (entry engine.Entry, err error) {
		if more {
			entry.Decision, err = e.More(ctx, *r)
			return entry, err
		}
		return e.EnterWait(ctx, *r)
	}
	if wait <= 0 {
		return ask
	}
	return func(ctx context.Context, r *engine.Request, more bool) (engine.Entry, error) {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		entry, err := ask(limited, r, more)
		if ctx.Err() == nil && limited.Err() != nil && errors.Is(err, context.DeadlineExceeded) { // it queued in vain
			entry.Reason, err = sluice.Limited, nil
		}
		return entry, err
	}
}

// Rules limits requests by the rules of e: see [User] and [Attributes] for what rules
// may ask for. Requests wait, and are settled by a header of the response, if their
// rule says so. Those that a limit of concurrency lets in count as in flight until their
// handler returns. It panics if e is nil.
func Rules(e *engine.Engine, opts ...RulesOption) func(http.Handler) http.Handler {
	if e == nil {
		panic("httplimit: Rules: the engine is nil (make it with engine.New)")
	}
	c := newConfig()
	for _, o := range opts {
		o.applyRules(&c)
	}
	return around(guard{config: &c, rules: newRuled(e, &c)})
}

func around(g guard) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		own := g
		own.next = next
		return &own
	}
}
