package lease

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// takeOne decides a single check that the current lot could not serve at once.
func (s *Store) takeOne(ctx context.Context, checks []store.Check) error {
	c := &checks[0]
	p, e, w := s.enter(c, true, true)
	if p.lot != nil {
		return nil
	}
	if w == nil {
		return s.pass(ctx, store.Spend, checks)
	}
	var r reply
	select {
	case r = <-w.done:
	case <-ctx.Done():
		if e.leave(w) {
			return fmt.Errorf("lease: waiting for tokens: %w", ctx.Err())
		}
		r = <-w.done // it was answered at the same moment
	}
	switch r.how {
	case paid:
		settle(c, &r.pay, s.clock.Now())
	case denied:
		c.Verdict = r.verdict
	case direct:
		return s.pass(ctx, store.Spend, checks)
	case failed:
		return fmt.Errorf("lease: %w", r.err)
	}
	return nil
}

// enter pays for a check out of the lease of its key and answers it. If it
// cannot, the payment has no lot; it then has tokens fetched, and if queue is set
// and they are worth waiting for, it returns the place in the queue. Without queue
// the check stands with others, and the payment is held until all are decided. Without
// fetch nothing is fetched.
func (s *Store) enter(c *store.Check, queue, fetch bool) (p payment, e *entry, w *waiter) {
	plan := s.plan(c.Spec)
	if !plan.leased() || c.MaxWait > 0 || c.Cost > plan.cap {
		return p, nil, nil
	}
	now := s.clock.Now()
	if e = s.lock(c.Key, plan, now); e == nil {
		return p, nil, nil
	}
	defer e.mu.Unlock()
	e.seen = now
	if len(e.queue) == 0 { // nobody overtakes
		if p, ok := e.core.pay(now, c.Cost); ok {
			settle(c, &p, now)
			if !queue {
				p.hold()
			}
			if fetch && e.needs(now) {
				s.pump(e)
			}
			return p, e, nil
		}
	}
	if fetch && c.Cost > 0 && now >= e.dry.Load() && e.core.miss(now, c.Cost) && s.pump(e) && queue {
		w = e.join(c.Cost)
	}
	return payment{}, e, w
}

// lock finds the entry of a key and locks it, ready for the plan p. It returns
// nil if the key has none and there is no place for it.
func (s *Store) lock(key string, p *plan, now int64) *entry {
	for {
		e := s.table.find(key, p.of.Shape())
		if e == nil {
			e = s.table.add(key, p, now)
		}
		if e == nil {
			return nil
		}
		e.mu.Lock()
		if !e.dead {
			if e.core.plan != p {
				e.follow(p)
			}
			return e
		}
		e.mu.Unlock()
	}
}

// takeSeveral decides checks that stand together. What the leases hold is taken
// from them; the rest goes to the inner store in one call, and if that denies,
// the leases get theirs back. What the leases hold is allowed, so the inner store
// spends shadows by the same rule, whoever of the others it is asked about.
func (s *Store) takeSeveral(ctx context.Context, checks []store.Check) error {
	if !slices.ContainsFunc(checks, func(c store.Check) bool { return s.plan(c.Spec).leased() }) {
		return s.pass(ctx, store.Spend, checks)
	}
	fetch := !futile(checks)
	paid := make([]paidBy, 0, len(checks))
	rest := make([]store.Check, 0, len(checks))
	at := make([]int, 0, len(checks)) // where those of rest stand
	for i := range checks {
		c := &checks[i]
		if p, e, _ := s.enter(c, false, fetch); p.lot != nil {
			paid = append(paid, paidBy{p, e})
		} else {
			rest, at = append(rest, *c), append(at, i)
		}
	}
	var err error
	if len(rest) > 0 {
		err = s.pass(ctx, store.Spend, rest)
	}
	allowed := err == nil
	for i := range rest {
		checks[at[i]] = rest[i]
		allowed = allowed && !rest[i].Refuses()
	}
	for _, p := range paid {
		if allowed {
			p.settle()
		} else {
			s.undo(p)
		}
	}
	return err
}

// futile reports whether a limit that admits nothing stands among the checks. They are
// refused whatever the leases hold, so nothing is fetched for them: that is how one looks
// at limits without spending anything.
func futile(checks []store.Check) bool {
	return slices.ContainsFunc(checks, func(c store.Check) bool { return c.Spec.Kind == algo.Ban && !c.Shadow })
}

// paidBy is a payment and whose lease it came from.
type paidBy struct {
	payment
	e *entry
}

func (s *Store) undo(p paidBy) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.e.core.undo(p.payment)
	s.watch(p.e) // something may have to be given back
}
