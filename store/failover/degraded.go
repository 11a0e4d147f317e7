package failover

import (
	"context"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// decide decides without the main store.
func (s *Store) decide(ctx context.Context, op store.Op, checks []store.Check) error {
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	s.count(s.policy)
	if s.policy == Local {
		if err := s.decideLocally(ctx, op, checks); err != nil {
			return err
		}
	} else {
		for i := range checks {
			decideBlindly(op, &checks[i], s.policy == Allow)
		}
	}
	for i := range checks {
		checks[i].Degraded, checks[i].Blind = true, s.policy != Local
	}
	return nil
}

// decideLocally asks the local store. What was taken from the main store by mark
// cannot be given back here.
func (c *core) decideLocally(ctx context.Context, op store.Op, checks []store.Check) error {
	switch op {
	case store.Cancel, store.Return: // Take has sent what is ours to the local store
		for i := range checks {
			checks[i].Verdict = algo.Verdict{}
		}
		return nil
	case store.Reserve, store.Acquire:
		c.strayed.Store(true)
	case store.Release:
		c.released.add(checks)
	}
	err := c.local.Take(ctx, op, checks)
	for i := range checks {
		if check := &checks[i]; op == store.Renew && err == nil && !check.Verdict.Allowed {
			c.adopt(ctx, check)
		}
	}
	return err
}

// adopt counts permits of the main store here, if they fit in; who holds them keeps
// them in any case.
func (c *core) adopt(ctx context.Context, check *store.Check) {
	if check.Cost > 0 && !c.released.has(check) {
		c.strayed.Store(true)
		_ = c.local.Take(ctx, store.Acquire, []store.Check{*check})
	}
	check.Verdict = algo.Verdict{Allowed: true}
}

// retryAfter is when a request that was denied for want of the store may be asked
// again, µs: by then the store has been asked whether it is back.
const retryAfter = int64(2 * probePause / 1000)

// decideBlindly answers without any store.
func decideBlindly(op store.Op, c *store.Check, allow bool) {
	switch op {
	case store.Spend, store.Reserve, store.Acquire, store.Lease:
		no := never(c.Spec, c.Cost)
		c.Verdict = c.Spec.Blind(allow && !no, retryAfter)
		c.Verdict.Never = no
		if c.Granted = 0; c.Verdict.Allowed && op == store.Lease {
			c.Granted = c.Cost
		}
	case store.Renew, store.Release: // an outage does not stop who is at work
		c.Verdict = algo.Verdict{Allowed: true}
	default: // there is nothing to give back to
		c.Verdict = algo.Verdict{}
	}
}

// never reports whether the limit can never admit cost, whatever its state.
func never(p *algo.Spec, cost int64) bool {
	if p.Kind == algo.Concurrency {
		return cost > p.Count
	}
	return algo.Check(p, &algo.State{}, 0, cost, 0).Never
}
