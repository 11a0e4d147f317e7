package failover

import (
	"context"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// decide decides without the main store: first what needs no other, for that may be
// a reason to spend nothing in the local one.
func (c *core) decide(ctx context.Context, op store.Op, checks []store.Check, by policies) error {
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	c.count(by)
	refused := false
	for i := range checks {
		check, policy := &checks[i], by.of(i)
		if policy != Local {
			decideBlindly(op, check, policy == Allow)
			refused = refused || check.Refuses()
		}
		check.Degraded, check.Blind = true, policy != Local
	}
	local, at := pick(checks, func(i int) bool { return by.of(i) == Local })
	if len(local) == 0 {
		return nil
	}
	var err error
	if refused && (op == store.Spend || op == store.Reserve || op == store.Acquire) {
		err = c.look(ctx, op, local)
	} else {
		err = c.decideLocally(ctx, op, local)
	}
	put(checks, local, at)
	return err
}

// look has the local store decide, and spend nothing: beside a check that is always
// denied.
func (c *core) look(ctx context.Context, op store.Op, checks []store.Check) error {
	refusal := store.Check{Key: checks[0].Key, Spec: banned, Cost: 2, ID: checks[0].ID, Hold: checks[0].Hold}
	if op == store.Acquire {
		refusal.Spec = single
	}
	all := append([]store.Check{refusal}, checks...)
	err := c.local.Take(ctx, op, all)
	copy(checks, all[1:])
	return err
}

// Limits that deny a cost of 2 whatever their state.
var (
	banned, _ = algo.Compile(algo.Spec{Kind: algo.Ban})
	single, _ = algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 1})
)

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
