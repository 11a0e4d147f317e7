package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// taken is what a reservation took from one store.
type taken struct {
	checks   []store.Check
	policies []failover.Policy
	costs    []cost // by check
}

// cost is what a check took.
type cost struct {
	reserved  int64
	estimated bool // so that it has to be settled
}

// Commit says what the request really took. What is less than reserved is given back,
// what is more becomes a debt that later requests pay. If a rule that matched says that
// the response tells its cost (rule.Cost.Response), then only such rules are settled:
// the others know theirs, and keep it.
//
// A second Commit or Cancel, or one after the reservation expired, changes nothing and
// returns [sluice.ErrSettled]. After any other error it may be tried again: a store
// settles a reservation once.
func (r *Reservation) Commit(ctx context.Context, actual int64) error {
	if actual < 0 || actual > algo.MaxCount {
		return fmt.Errorf("engine: commit: cost %d: %w", actual, sluice.ErrCost)
	}
	return r.settle(ctx, func(c cost) int64 {
		if c.estimated {
			return actual
		}
		return c.reserved
	})
}

// Cancel gives the reservation back, as far as it can: for a request that does not
// happen. After Commit it does nothing.
func (r *Reservation) Cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.settle(ctx, func(cost) int64 { return 0 }) // the estimate stays spent if the store cannot be reached
}

// settle settles every check with what it really took.
func (r *Reservation) settle(ctx context.Context, really func(cost) int64) error {
	if !r.Allowed || r.settled.Swap(true) {
		return sluice.ErrSettled
	}
	for scope := range r.taken {
		t := &r.taken[scope]
		for i := range t.checks {
			t.checks[i].Cost = really(t.costs[i])
		}
	}
	err := r.engine.settle(ctx, &r.taken)
	if err != nil && !errors.Is(err, sluice.ErrSettled) {
		r.settled.Store(false)
	}
	return err
}

// Commit settles the reservation with this ID, made for the same request, perhaps in
// another process. It finds what was reserved by the rules in force: if these give the
// request another key than they did then, there is nothing to settle. For what is
// settled and for the errors see [Reservation.Commit].
func (e *Engine) Commit(ctx context.Context, r Request, id string, actual int64) error {
	c := e.begin(&r)
	defer e.end(c)
	c.match(e)
	c.build(&e.places, &terms{op: store.Commit, id: id, cost: &actual})
	all := c.collect(func(_ *store.Check, estimated bool) bool { return estimated })
	return e.settle(ctx, &all)
}

// collect returns those checks that are wanted.
func (c *call) collect(want func(check *store.Check, estimated bool) bool) (all [scopes]taken) {
	responds := c.responds()
	for scope := range c.batches[:rates] {
		b, t := &c.batches[scope], &all[scope]
		for _, p := range b.parts {
			estimated := !responds || c.matches.Hits[p.hit].Rule.Cost.Response != ""
			for i := p.from; i < p.to; i++ {
				if !want(&b.checks[i], estimated) {
					continue
				}
				t.checks = append(t.checks, b.checks[i])
				t.costs = append(t.costs, cost{b.checks[i].Cost, estimated})
				if len(b.policies) > 0 {
					t.policies = append(t.policies, b.policies[i])
				}
			}
		}
	}
	return all
}

// responds reports whether the response tells what a rule costs.
func (c *call) responds() bool {
	for i := range c.matches.Hits {
		if c.matches.Hits[i].Rule.Cost.Response != "" {
			return true
		}
	}
	return false
}

// settle commits what was taken from all stores. What is no estimate is committed as it
// is, so that no store has to remember it any longer.
func (e *Engine) settle(ctx context.Context, all *[scopes]taken) error {
	some, settled, degraded := false, false, false
	for _, scope := range order {
		t := &all[scope]
		if len(t.checks) == 0 {
			continue
		}
		if err := e.places.take(ctx, scope, store.Commit, t.checks, t.policies); err != nil {
			return fmt.Errorf("engine: commit: %w", err)
		}
		for i := range t.checks {
			if !t.costs[i].estimated {
				continue
			}
			some = true
			settled = settled || t.checks[i].Verdict.Allowed
			degraded = degraded || t.checks[i].Degraded
		}
	}
	switch {
	case settled || !some:
		return nil
	case degraded:
		return fmt.Errorf("engine: commit: %w", sluice.ErrUnavailable)
	}
	return sluice.ErrSettled
}
