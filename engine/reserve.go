package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// Reservation is a cost that was spent ahead. Settle it once, with Commit or Cancel;
// left alone, the estimate stays spent.
type Reservation struct {
	Decision
	ID string // for Engine.Commit

	engine  *Engine
	settled atomic.Bool
	taken   [scopes]taken
}

// taken is what a reservation took from one store.
type taken struct {
	checks   []store.Check
	policies []failover.Policy
}

// Reserve spends the cost of r as an estimate, to be settled within [sluice.Hold]. A
// denial is no error: see [Reservation.OK]. As with Check, an allowed request may
// have to be held for [Decision.Wait].
func (e *Engine) Reserve(ctx context.Context, r Request) (*Reservation, error) {
	c := e.begin(r)
	c.match(e)
	res := &Reservation{engine: e, ID: rand.Text()}
	e.decide(ctx, c, &terms{op: store.Reserve, id: res.ID, within: forever})
	if res.Allowed = c.event.Err == nil && c.event.Decision.Allowed; res.Allowed {
		res.keep(c)
	}
	var err error
	if res.Decision, err = e.finish(c); err != nil {
		return nil, err
	}
	return res, nil
}

// keep remembers what was charged.
func (r *Reservation) keep(c *call) {
	for scope := range c.batches {
		b, t := &c.batches[scope], &r.taken[scope]
		for i := range b.checks {
			if !b.asked || !charged(&b.checks[i]) {
				continue
			}
			t.checks = append(t.checks, b.checks[i])
			if len(b.policies) > 0 {
				t.policies = append(t.policies, b.policies[i])
			}
		}
	}
}

// OK reports whether the reservation was granted. If not, nothing was spent.
func (r *Reservation) OK() bool { return r.Allowed }

// Commit says what the request really took. What is less than reserved is given back,
// what is more becomes a debt that later requests pay. A second Commit or Cancel, or
// one after the reservation expired, changes nothing and returns [sluice.ErrSettled].
// After any other error it may be tried again: a store settles a reservation once.
func (r *Reservation) Commit(ctx context.Context, actual int64) error {
	if actual < 0 || actual > algo.MaxCount {
		return fmt.Errorf("engine: commit: cost %d: %w", actual, sluice.ErrCost)
	}
	if !r.Allowed || r.settled.Swap(true) {
		return sluice.ErrSettled
	}
	err := r.engine.settle(ctx, &r.taken, actual)
	if err != nil && !errors.Is(err, sluice.ErrSettled) {
		r.settled.Store(false)
	}
	return err
}

// Cancel gives the reservation back, as far as it can. After Commit it does nothing.
func (r *Reservation) Cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.Commit(ctx, 0) // the estimate stays spent if the store cannot be reached
}

// Commit settles the reservation with this ID, made for the same request, perhaps in
// another process. It finds what was reserved by the rules in force: if these give the
// request another key than they did then, there is nothing to settle. For the errors
// see [Reservation.Commit].
func (e *Engine) Commit(ctx context.Context, r Request, id string, actual int64) error {
	c := e.begin(r)
	defer e.end(c)
	c.match(e)
	c.build(&e.places, &terms{op: store.Commit, id: id})
	var all [scopes]taken
	for scope := range c.batches {
		all[scope] = taken{c.batches[scope].checks, c.batches[scope].policies}
	}
	return e.settle(ctx, &all, actual)
}

// settle commits what was taken from all stores.
func (e *Engine) settle(ctx context.Context, all *[scopes]taken, actual int64) error {
	some, settled, degraded := false, false, false
	for _, scope := range order {
		t := &all[scope]
		if len(t.checks) == 0 {
			continue
		}
		some = true
		for i := range t.checks {
			t.checks[i].Cost = actual
		}
		if err := e.places.take(ctx, scope, store.Commit, t.checks, t.policies); err != nil {
			return fmt.Errorf("engine: commit: %w", err)
		}
		for i := range t.checks {
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
