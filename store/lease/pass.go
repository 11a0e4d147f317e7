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

// reset forgets the keys, and then whatever was leased of them here.
func (s *Store) reset(ctx context.Context, checks []store.Check) error {
	if err := s.pass(ctx, store.Reset, checks); err != nil {
		return err
	}
	s.forget(checks, false)
	return nil
}

// refund gives cost back. What is leased here counts as spent at the store, and
// must not be given back twice: it is given up first.
func (s *Store) refund(ctx context.Context, checks []store.Check) error {
	if err := s.giveBack(ctx, s.forget(checks, true)); err != nil {
		return err
	}
	return s.pass(ctx, store.Refund, checks)
}

// forget drops the leases of the checks' keys, and returns what may be given
// back of them if back is set.
func (s *Store) forget(checks []store.Check, back bool) (returns []store.Check) {
	for i := range checks {
		e := s.table.find(checks[i].Key, checks[i].Spec.Shape())
		if e == nil {
			continue
		}
		e.mu.Lock()
		e.core.drop(back)
		e.dry.Store(0)
		returns = e.collect(returns, e.core.leftovers())
		e.mu.Unlock()
	}
	return returns
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
