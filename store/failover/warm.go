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
func (c *core) warm(ctx context.Context, checks []store.Check, by policies) {
	for i := range checks {
		if checks[i].Refuses() {
			return
		}
	}
	for i := range checks {
		if by.of(i) == Local {
			c.remember(ctx, &checks[i])
		}
	}
}

// remember spends in the local store what was spent in the main one, or what there is
// left if that is less.
func (c *core) remember(ctx context.Context, spent *store.Check) {
	if spent.Cost == 0 || !spent.Verdict.Allowed || spent.Degraded {
		return
	}
	one := c.singles.Get().(*[1]store.Check)
	one[0] = store.Check{Key: spent.Key, Spec: spent.Spec, Cost: spent.Cost}
	err := c.local.Take(ctx, store.Spend, one[:]) // what cannot be remembered is forgotten
	if err == nil && !one[0].Verdict.Allowed {
		if one[0].Cost = spent.Spec.Remaining(one[0].Verdict); one[0].Cost > 0 {
			_ = c.local.Take(ctx, store.Spend, one[:])
		}
	}
	one[0] = store.Check{}
	c.singles.Put(one)
}
