package failover

import (
	"context"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// settle does in the local store what the main one has done with something that is
// named, or did not know. It may be in both: a call that came too late for the caller
// may still have been carried out.
func (c *core) settle(ctx context.Context, op store.Op, checks []store.Check, by policies) {
	for i := range checks {
		check, known := &checks[i], false
		switch {
		case !c.strayed.Load():
		case op == store.Renew && check.Verdict.Allowed:
			c.here(ctx, store.Release, check) // it is counted there
		case op == store.Renew:
			c.bringHome(ctx, check)
		default:
			known = c.closeBoth(ctx, op, check)
		}
		if op == store.Commit && !known && by.of(i) == Local {
			c.remember(ctx, check)
		}
	}
}

// here carries out op in the local store for one check and returns its answer.
func (c *core) here(ctx context.Context, op store.Op, check *store.Check) (store.Check, bool) {
	one := []store.Check{*check}
	err := c.local.Take(ctx, op, one)
	return one[0], err == nil && one[0].Verdict.Allowed
}

// closeBoth settles also what the local store has, and reports whether that knew it.
func (c *core) closeBoth(ctx context.Context, op store.Op, check *store.Check) bool {
	done, known := c.here(ctx, op, check)
	if known && !check.Verdict.Allowed {
		*check = done
		check.Degraded = true
	}
	return known
}

// bringHome renews permits that only the local store knows: those of an outage. From
// now on the main store counts them, if it has room.
func (c *core) bringHome(ctx context.Context, check *store.Check) {
	if _, known := c.here(ctx, store.Renew, check); !known {
		return
	}
	check.Verdict, check.Degraded = algo.Verdict{Allowed: true}, true
	if check.Cost == 0 {
		return
	}
	one := []store.Check{{Key: check.Key, Spec: check.Spec, Cost: check.Cost, ID: check.ID, Hold: check.Hold}}
	if _, err := c.ask(ctx, store.Acquire, one); err != nil || !one[0].Verdict.Allowed {
		return
	}
	check.Degraded = false
	if _, still := c.here(ctx, store.Release, check); !still { // a Release came in between
		_, _ = c.ask(ctx, store.Release, one)
	}
}

// released remembers the last permits that were given back without the main store,
// so that a renewal that they overtook does not take them again.
type released struct {
	mu   sync.Mutex // guards the rest
	last [64]struct{ key, id string }
	next int
}

func (r *released) add(checks []store.Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range checks {
		p := &r.last[r.next]
		p.key, p.id = checks[i].Key, checks[i].ID
		r.next = (r.next + 1) % len(r.last)
	}
}

func (r *released) has(check *store.Check) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.last {
		if p.key == check.Key && p.id == check.ID {
			return true
		}
	}
	return false
}
