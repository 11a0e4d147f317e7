package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// decide asks about a request that was matched, and puts what happened into c.event.
func (e *Engine) decide(ctx context.Context, c *call, t *terms) {
	ev := &c.event
	ev.Request, ev.Path, ev.Err, ev.Left, ev.spared = &c.req, c.matches.Path, nil, false, 0
	denier := c.list()
	if c.req.Cost < 0 {
		ev.Err, ev.Decision = e.failed(t, false, fmt.Errorf("request: cost %d: %w", c.req.Cost, store.ErrCost)), Decision{}
		c.undecided()
		return
	}
	why, by := c.refused(denier)
	if why != 0 && !t.peek {
		ev.Decision = refusal(why, by)
		c.undecided()
		return
	}
	c.build(&e.places, t)
	if err := e.ask(ctx, c, t); err != nil {
		e.undecided(ctx, c, t, err)
		return
	}
	if c.sum(t); why != 0 { // who only looks wants to see the limits all the same
		ev.Decision = refusal(why, by)
	}
}

// undecided is for a request that the stores could not decide.
func (e *Engine) undecided(ctx context.Context, c *call, t *terms, err error) {
	ev := &c.event
	ev.Left = ctx.Err() != nil && !isFault(err)
	ev.Err, ev.Decision = e.failed(t, ev.Left, err), Decision{}
	c.undecided()
}

// ask asks the stores.
func (e *Engine) ask(ctx context.Context, c *call, t *terms) error {
	if !t.peek {
		return e.take(ctx, c, t)
	}
	for scope := range c.used() {
		b := &c.batches[scope]
		if len(b.checks) == 0 {
			continue
		}
		if err := e.askOne(ctx, b, t); err != nil {
			return c.blame(b, err)
		}
		b.asked = true
	}
	return nil
}

// refused returns why a request is denied whatever the stores say, and by whom: 0 if it
// is not. denier is a rule that denies it so. While every rule is turned to shadow there
// is no such denial.
func (c *call) refused(denier *rule.Hit) (why sluice.Reason, by *rule.Compiled) {
	switch {
	case c.shadow:
		return 0, nil
	case denier == nil:
		return c.spared(), nil
	case denier.Ambiguous:
		return sluice.Ambiguous, denier.Rule
	}
	return sluice.MissingKey, denier.Rule
}

// spared returns why a request is to be refused for which there is no rule: 0 if it is
// not. A rule in shadow that cannot read the path is none.
func (c *call) spared() sluice.Reason {
	applies := func(h rule.Hit) bool { return !h.Ambiguous }
	if c.state.deny && !slices.ContainsFunc(c.matches.Hits, applies) {
		return sluice.NoRule
	}
	return 0
}

// failed words an error, and warns of one that is not the caller's doing.
func (e *Engine) failed(t *terms, left bool, err error) error {
	if !isFault(err) && !left {
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

// list makes an outcome for every rule that matched. It returns the first enforced one
// that denies without a look at its limits.
func (c *call) list() (denier *rule.Hit) {
	hits := c.matches.Hits
	c.denials = c.denials[:0]
	out := slices.Grow(c.event.Outcomes[:0], len(hits))[:len(hits)]
	for i := range hits {
		h, o := &hits[i], &out[i]
		*o = Outcome{}
		o.Rule, o.Key, o.Cost = h.Rule, h.KeyText(), h.Cost
		o.Enforced, o.Allowed, o.ambiguous = c.enforces(h), !h.Denied, h.Ambiguous
		if h.Denied && h.Enforced && denier == nil {
			denier = h
		}
	}
	c.event.Outcomes = out
	return denier
}

// undecided marks the rules whose limits were not asked.
func (c *call) undecided() {
	for i := range c.event.Outcomes {
		o := &c.event.Outcomes[i]
		o.Undecided = o.Allowed
	}
}
