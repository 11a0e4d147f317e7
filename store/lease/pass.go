package lease

import (
	"context"

	"github.com/sluice-limiter/sluice/store"
)

// pass hands checks to the inner store, which decides by the limits that leave
// room for leases, and turns its answers into those of the caller's limits.
func (s *Store) pass(ctx context.Context, op store.Op, checks []store.Check) error {
	var few [8]*plan
	plans := few[:0]
	for i := range checks {
		p := s.plan(checks[i].Spec)
		plans = append(plans, p)
		checks[i].Spec = p.spec
	}
	err := s.inner.Take(ctx, op, checks)
	for i, p := range plans {
		checks[i].Spec = p.of
		if err == nil && (op == store.Spend || op == store.Reserve || op == store.Lease) {
			checks[i].Verdict = p.outward(checks[i].Verdict)
		}
	}
	return err
}

// reset forgets the keys, and whatever was leased of them here: before, so that
// none of it is given back to a store that has forgotten it, and after, since it
// may have been leased anew in between.
func (s *Store) reset(ctx context.Context, checks []store.Check) error {
	s.forget(checks)
	err := s.pass(ctx, store.Reset, checks)
	s.forget(checks)
	return err
}

func (s *Store) forget(checks []store.Check) {
	for i := range checks {
		if e := s.table.find(checks[i].Key, checks[i].Spec.Shape()); e != nil {
			e.mu.Lock()
			e.core.drop(false)
			e.dry.Store(0)
			e.mu.Unlock()
		}
	}
}

// refund gives cost back: to the lots that it was spent from, if they are alive,
// and the rest to the store.
func (s *Store) refund(ctx context.Context, checks []store.Check) error {
	var returns, rest []store.Check
	for _, c := range checks {
		if e := s.table.find(c.Key, c.Spec.Shape()); e != nil && c.Cost > 0 {
			e.mu.Lock()
			c.Cost = e.refund(s.clock.Now(), c.Cost)
			returns = e.collect(returns, e.core.leftovers())
			e.mu.Unlock()
			if c.Cost == 0 {
				continue
			}
		}
		rest = append(rest, c)
	}
	if err := s.giveBack(ctx, returns); err != nil {
		return err
	}
	if len(rest) == 0 {
		return nil
	}
	return s.pass(ctx, store.Refund, rest)
}

// collect adds the checks that give leftovers of the entry back.
func (e *entry) collect(returns []store.Check, used []leftover) []store.Check {
	for _, u := range used {
		returns = append(returns, store.Check{
			Key: e.key, Spec: e.core.plan.spec, Cost: u.unused, Now: u.lot.at, Mark: u.lot.mark,
		})
	}
	return returns
}

// giveBack returns unused tokens, many keys in a call. What cannot be returned
// is lost, as it would be by a crash.
func (s *Store) giveBack(ctx context.Context, returns []store.Check) error {
	for len(returns) > 0 {
		n := min(len(returns), 64)
		if err := s.inner.Take(ctx, store.Return, returns[:n]); err != nil {
			return err
		}
		returns = returns[n:]
	}
	return nil
}
