package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// permitLife is for how long a permit of a remote store lives that is not renewed.
const permitLife = 30 * time.Second

// used returns the batches that the rules in force may fill.
func (c *call) used() []batch { return c.batches[:c.state.scopes] }

// reaches returns how many scopes an operation is about: permits can neither be settled
// nor refunded, and are not forgotten by Reset.
func (c *call) reaches(t *terms) int {
	if t.inside || t.op != store.Spend && t.op != store.Reserve {
		return rates
	}
	return c.state.scopes
}

// ask makes checks ask for a permit each, or look whether there is one.
func (t *terms) ask(checks []store.Check, far bool) {
	life := int64(store.MaxHold) // nobody in this process dies without the others
	if far {
		life = permitLife.Microseconds()
	}
	for i := range checks {
		check := &checks[i]
		check.Cost, check.ID, check.Hold = 1, t.owner, life
		if t.owner == "" {
			check.Cost, check.ID = 0, "look"
		}
	}
}

// askOne asks one store.
func (e *Engine) askOne(ctx context.Context, b *batch, t *terms) error {
	if b.scope < rates {
		return e.places.take(ctx, b.scope, t.op, b.checks, b.policies)
	}
	return e.acquire(ctx, b, t)
}

// acquire asks one store for permits.
func (e *Engine) acquire(ctx context.Context, b *batch, t *terms) error {
	err := e.places.take(ctx, b.scope, store.Acquire, b.checks, b.policies)
	if t.owner != "" && e.places.far(b.scope) {
		e.abandon(b, err)
	}
	for i := range b.checks {
		if check := &b.checks[i]; err == nil && !check.Blind {
			plainly(check)
		}
	}
	return err
}

// plainly makes an answer about permits say what a door can tell: a permit may be free
// at any time, and not when those that are held expire; and who only looks is told what
// would be left.
func plainly(c *store.Check) {
	c.Verdict.Y, c.Verdict.Z = 0, 0
	if c.Cost == 0 && c.Verdict.Allowed {
		c.Verdict.X--
	}
}

// inFlight returns how many permits are held, by the answer to somebody who looked.
func inFlight(c *store.Check) int64 {
	n := c.Spec.Count - c.Verdict.X
	if c.Verdict.Allowed {
		n-- // its own
	}
	return n
}

// held is what a request holds until it leaves.
type held struct {
	engine  *Engine
	left    atomic.Bool
	permits [scopes - rates]taken // by scope
	far     bool                  // those of the cluster are at a remote store, and have to be renewed
	stay    stay
}

// cluster returns the permits that the fleet shares.
func (h *held) cluster() *taken { return &h.permits[clusterPermits-rates] }

// hold remembers what a request has acquired; nil if that is nothing.
func (e *Engine) hold(c *call) *held {
	if len(c.batches[clusterPermits].checks)+len(c.batches[instancePermits].checks) == 0 {
		return nil
	}
	h := &held{engine: e}
	for i := range h.permits {
		h.permits[i].addGranted(&c.batches[rates+i])
	}
	if h.far = e.places.far(clusterPermits) && len(h.cluster().checks) > 0; h.far {
		e.permits.add(h)
	}
	return h
}

// addGranted adds the permits that were granted: of shadows, not all may be.
func (t *taken) addGranted(b *batch) {
	for i := range b.checks {
		if check := &b.checks[i]; check.Verdict.Allowed && check.Cost > 0 {
			t.add(b, i)
		}
	}
}

func (t *taken) add(b *batch, i int) {
	t.checks = append(t.checks, b.checks[i])
	if len(b.policies) > 0 {
		t.policies = append(t.policies, b.policies[i])
	}
}

// leave gives everything back, once. What is just being renewed is given back when that
// is done.
func (h *held) leave() {
	if h == nil || h.left.Swap(true) {
		return
	}
	h.engine.release(context.Background(), &h.permits[instancePermits-rates], instancePermits)
	if !h.far || h.engine.permits.remove(h) {
		h.engine.release(context.Background(), h.cluster(), clusterPermits)
	}
}

// vacate gives back the permits of a request that will not go ahead.
func (e *Engine) vacate(ctx context.Context, c *call, b *batch) {
	if c.held != nil {
		c.held.leave()
		c.held, c.batches[clusterPermits].asked, c.batches[instancePermits].asked = nil, false, false
		return
	}
	var t taken
	t.addGranted(b)
	e.release(ctx, &t, b.scope)
}

// releaseTime is how long we try to give permits back.
const releaseTime = time.Second

// release gives permits back, also if the caller has gone. Those that cannot be are free
// when they expire.
func (e *Engine) release(ctx context.Context, t *taken, scope int) {
	if len(t.checks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	_ = e.places.take(ctx, scope, store.Release, t.checks, t.policies)
}
