package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// take asks the stores one after the other, until one refuses. What was taken before
// that is given back.
func (e *Engine) take(ctx context.Context, c *call, t *terms) error {
	order := c.state.order()
	for n, scope := range order {
		b := &c.batches[scope]
		if len(b.checks) == 0 {
			continue
		}
		err := e.askOne(ctx, b, t)
		if b.asked = err == nil; b.asked && !b.refuses() {
			continue
		}
		for _, before := range order[:n] {
			e.giveBack(ctx, c, before, t.op)
		}
		if err != nil {
			return c.blame(b, err)
		}
		return nil
	}
	if t.owner != "" {
		c.held = e.hold(c)
	}
	return nil
}

// refuses reports whether an enforced limit does.
func (b *batch) refuses() bool {
	for i := range b.checks[:b.enforced] {
		if !b.checks[i].Verdict.Allowed {
			return true
		}
	}
	return false
}

// blame names the rules that an error is about.
func (c *call) blame(b *batch, err error) error {
	var names []string
	for _, p := range b.parts {
		if name := c.matches.Hits[p.hit].Rule.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Errorf("rule %s: %w", strings.Join(names, ", "), err)
}

// backTime is how long we try to give back what was taken for nothing.
const backTime = 50 * time.Millisecond

// giveBackAll undoes what a request took that will not go ahead, also if its caller
// has gone. What cannot be given back stays spent: the limits hold.
func (e *Engine) giveBackAll(ctx context.Context, c *call, op store.Op) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTime)
	defer cancel()
	for _, scope := range c.state.order() {
		e.giveBack(ctx, c, scope, op)
	}
}

// giveBack undoes what one store has charged: reservations are settled with nothing,
// bookings cancelled, the rest refunded. The answers stay as they are.
func (e *Engine) giveBack(ctx context.Context, c *call, scope int, op store.Op) {
	b := &c.batches[scope]
	if !b.asked {
		return
	}
	if scope >= rates {
		e.vacate(ctx, c, b)
		return
	}
	undo := [...]store.Op{store.Cancel, store.Refund}
	if op == store.Reserve {
		undo[0], undo[1] = store.Commit, store.Commit
	}
	for i, op := range undo {
		back := &c.back
		back.checks, back.policies = back.checks[:0], back.policies[:0]
		for j := range b.checks {
			check := &b.checks[j]
			if !charged(check) || (i == 0) != (check.Verdict.Wait > 0) || op == store.Refund && check.Degraded {
				continue
			}
			back.checks = append(back.checks, *check)
			if op == store.Commit {
				back.checks[len(back.checks)-1].Cost = 0
			}
			if len(b.policies) > 0 {
				back.policies = append(back.policies, b.policies[j])
			}
		}
		if len(back.checks) > 0 {
			_ = e.places.take(ctx, scope, op, back.checks, back.policies) // it stays spent then
		}
	}
}

// charged reports whether a check of a batch that was not refused has spent anything.
func charged(c *store.Check) bool { return c.Verdict.Allowed && c.Cost > 0 && !c.Blind }
