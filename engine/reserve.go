package engine

import (
	"context"
	"crypto/rand"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/store"
)

// Reservation is a cost that was spent ahead. Settle it once, with Commit or Cancel;
// left alone, the estimate stays spent.
type Reservation struct {
	Decision
	ID string // for Engine.Commit

	engine  *Engine
	settled atomic.Bool
	taken   [scopes]taken
	held    *held
}

// Reserve spends the cost of r as an estimate, to be settled within [sluice.Hold]. A
// denial is no error: see [Reservation.OK]. As with Check, an allowed request may
// have to be held for [Decision.Wait].
func (e *Engine) Reserve(ctx context.Context, r Request) (*Reservation, error) {
	c := e.begin(&r)
	c.match(e)
	res := &Reservation{engine: e, ID: rand.Text()}
	e.decide(ctx, c, &terms{op: store.Reserve, id: res.ID, within: forever})
	return res.finish(c)
}

// finish remembers what was charged, and tells of the decision.
func (r *Reservation) finish(c *call) (*Reservation, error) {
	if c.event.Err == nil && c.event.Decision.Allowed {
		r.taken = c.collect(func(check *store.Check, _ bool) bool { return charged(check) })
	}
	r.held = c.held
	if err := r.engine.finish(c, &r.Decision); err != nil {
		return nil, err
	}
	return r, nil
}

// OK reports whether the reservation was granted. If not, nothing was spent.
func (r *Reservation) OK() bool { return r.Allowed }
