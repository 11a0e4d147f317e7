package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// Reset forgets what was spent by the keys that r has under all rules that it matches,
// with their reservations. While a store is down that keeps some of it, that is not
// done, and the error is [sluice.ErrUnavailable]. Who is in flight stays so: permits are
// held, not spent.
func (e *Engine) Reset(ctx context.Context, r Request) error {
	return e.change(ctx, r, "reset", &terms{op: store.Reset})
}

// Refund gives back cost to the keys that r has under all rules that it matches, each
// at most what still counts. For the error see [Engine.Reset].
//
// Limits that are not enforced get it back too. One that did not allow the request was
// not charged for it, which nobody remembers: it then gets back what others spent, and
// its figures look better than they should. [Engine.Reserve] remembers: what it took,
// and from whom, is given back exactly by Cancel.
func (e *Engine) Refund(ctx context.Context, r Request, cost int64) error {
	return e.change(ctx, r, "refund", &terms{op: store.Refund, cost: &cost})
}

// change carries out what is no decision in all stores, also if one of them fails.
func (e *Engine) change(ctx context.Context, r Request, verb string, t *terms) error {
	c := e.begin(&r)
	defer e.end(c)
	c.match(e)
	c.build(&e.places, t)
	var failed error
	for _, scope := range c.state.order() {
		b := &c.batches[scope]
		if len(b.checks) == 0 {
			continue
		}
		err := e.places.take(ctx, scope, t.op, b.checks, b.policies)
		if err == nil && b.degraded() {
			err = sluice.ErrUnavailable
		}
		if err != nil {
			failed = fmt.Errorf("engine: %s: %w", verb, c.blame(b, err))
		}
	}
	return failed
}

// degraded reports whether a store did not answer that should have.
func (b *batch) degraded() bool {
	return slices.ContainsFunc(b.checks, func(c store.Check) bool { return c.Degraded })
}
