package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// decide asks about a request that was matched, and puts what happened into c.event.
func (e *Engine) decide(ctx context.Context, c *call, t *terms) {
	ev := &c.event
	ev.Request, ev.Path, ev.Err = &c.req, c.matches.Path, nil
	c.list()
	d, refused := c.refused()
	if refused && !t.peek {
		ev.Decision = d
		c.undecided()
		return
	}
	c.build(&e.places, t)
	if err := e.ask(ctx, c, t); err != nil {
		ev.Err, ev.Decision = e.failed(t, err), Decision{}
		c.undecided()
		return
	}
	if c.sum(t); refused { // who only looks wants to see the limits all the same
		ev.Decision = d
	}
}

// ask asks the stores.
func (e *Engine) ask(ctx context.Context, c *call, t *terms) error {
	if !t.peek {
		return e.take(ctx, c, t.op)
	}
	for scope := range c.batches {
		b := &c.batches[scope]
		if len(b.checks) == 0 {
			continue
		}
		if err := e.places.take(ctx, scope, t.op, b.checks, b.policies); err != nil {
			return c.blame(b, err)
		}
		b.asked = true
	}
	return nil
}

// refused returns the decision on a request that is denied whatever the stores say.
// While every rule is turned to shadow there is none.
func (c *call) refused() (Decision, bool) {
	if c.shadow {
		return Decision{}, false
	}
	hits := c.matches.Hits
	switch {
	case c.matches.Ambiguous:
		return refusal(sluice.Ambiguous, nil), true
	case len(hits) == 0 && c.state.deny:
		return refusal(sluice.NoRule, nil), true
	}
	for i := range hits {
		if hits[i].Denied && hits[i].Enforced {
			return refusal(sluice.MissingKey, hits[i].Rule), true
		}
	}
	return Decision{}, false
}

// failed words an error, and warns of one that is not the caller's fault.
func (e *Engine) failed(t *terms, err error) error {
	if !isFault(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		e.warn(storeFailed, "sluice: store could not decide", "error", err)
	}
	return fmt.Errorf("engine: %s: %w", t.verb(), err)
}

func (t *terms) verb() string {
	switch {
	case t.peek:
		return "peek"
	case t.op == store.Reserve:
		return "reserve"
	}
	return "check"
}

// isFault tells the faults of the input.
func isFault(err error) bool {
	for _, fault := range [...]error{store.ErrKey, store.ErrCost, store.ErrID, store.ErrOp, store.ErrTooMany} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// list makes an outcome for every rule that matched.
func (c *call) list() {
	out := c.event.Outcomes[:0]
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		out = append(out, Outcome{
			Rule: h.Rule, Key: c.key(i, false), Cost: h.Cost, Enforced: c.enforces(h), Allowed: !h.Denied,
		})
	}
	c.event.Outcomes = out
}

// undecided marks the rules whose limits were not asked.
func (c *call) undecided() {
	for i := range c.event.Outcomes {
		o := &c.event.Outcomes[i]
		o.Undecided = o.Allowed
	}
}
