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
// A reservation counts when it is settled, with what it really took.
func (s *Store) warm(ctx context.Context, op store.Op, checks []store.Check) {
	if s.policy != Local {
		return
	}
	switch op {
	case store.Spend:
		for i := range checks {
			if !checks[i].Verdict.Allowed {
				return
			}
		}
	case store.Commit:
		op = store.Spend
	case store.Refund:
	default:
		return
	}
	one := s.singles.Get().(*[1]store.Check)
	for i := range checks {
		c := &checks[i]
		if c.Cost > 0 && c.Verdict.Allowed && !c.Degraded {
			one[0] = store.Check{Key: c.Key, Spec: c.Spec, Cost: c.Cost}
			_ = s.local.Take(ctx, op, one[:]) // what cannot be remembered is forgotten
		}
	}
	one[0] = store.Check{}
	s.singles.Put(one)
}
