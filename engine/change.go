package engine

import (
	"context"
	"fmt"

	"github.com/sluice-limiter/sluice/store"
)

// Reset forgets what was spent by the keys that r has under all rules that it matches,
// with their reservations.
func (e *Engine) Reset(ctx context.Context, r Request) error {
	return e.change(ctx, r, "reset", &terms{op: store.Reset})
}

// Refund gives back cost to the keys that r has under all rules that it matches: at
// most what still counts.
func (e *Engine) Refund(ctx context.Context, r Request, cost int64) error {
	return e.change(ctx, r, "refund", &terms{op: store.Refund, cost: &cost})
}

// change carries out what is no decision in all stores, also if one of them fails.
func (e *Engine) change(ctx context.Context, r Request, verb string, t *terms) error {
	c := e.begin(r)
	defer e.end(c)
	c.match(e)
	c.build(&e.places, t)
	var failed error
	for _, scope := range order {
		b := &c.batches[scope]
		if len(b.checks) == 0 {
			continue
		}
		if err := e.places.take(ctx, scope, t.op, b.checks, b.policies); err != nil {
			failed = fmt.Errorf("engine: %s: %w", verb, c.blame(b, err))
		}
	}
	return failed
}
