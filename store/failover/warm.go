package failover

import (
	"context"

	"github.com/sluice-limiter/sluice/store"
)

// warm keeps the local store up to date with what this instance gets from the main
// one, so that an outage finds every key as it is: who has used up this instance's
// share starts the outage with nothing left, and not with a fresh burst. What is
// more than the share is not remembered: empty is empty.
//
// A reservation counts when it is settled, with what it really took. A refund does
// not: what is spent here may have been spent in an outage.
func (s *Store) warm(ctx context.Context, checks []store.Check) {
	for i := range checks {
		if !checks[i].Verdict.Allowed {
			return
		}
	}
	for i := range checks {
		s.remember(ctx, &checks[i])
	}
}

// remember spends in the local store what was spent in the main one, or what there is
// left if that is less.
func (s *Store) remember(ctx context.Context, c *store.Check) {
	if s.policy != Local || c.Cost == 0 || !c.Verdict.Allowed || c.Degraded {
		return
	}
	one := s.singles.Get().(*[1]store.Check)
	one[0] = store.Check{Key: c.Key, Spec: c.Spec, Cost: c.Cost}
	err := s.local.Take(ctx, store.Spend, one[:]) // what cannot be remembered is forgotten
	if err == nil && !one[0].Verdict.Allowed {
		if one[0].Cost = c.Spec.Remaining(one[0].Verdict); one[0].Cost > 0 {
			_ = s.local.Take(ctx, store.Spend, one[:])
		}
	}
	one[0] = store.Check{}
	s.singles.Put(one)
}
