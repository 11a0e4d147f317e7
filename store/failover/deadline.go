package failover

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// deadline is the caller's context with the decision's deadline. The time begins to
// run when somebody first looks: a store that answers from memory never does. Whether
// somebody looked also tells whether the answer came from the store itself. A timer
// runs only if somebody waits: who asks until when it may take, as a connection with a
// deadline of its own does, is told without one.
type deadline struct {
	context.Context // the caller's
	clock           *clock.Clock
	after           time.Duration

	mu     sync.Mutex
	at     time.Time     // zero until somebody looks
	given  time.Duration // how much time there was then: the caller's may be less
	armed  context.Context
	cancel context.CancelFunc
	ended  error // why, once the time is over or the decision has been made
}

// look begins the time, if it does not run yet; d.mu is held.
func (d *deadline) look() {
	if !d.at.IsZero() {
		return
	}
	d.given = d.after
	d.at = d.clock.Time(d.clock.Now() + d.after.Microseconds())
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		d.at, d.given = at, time.Until(at)
	}
}

func (d *deadline) Deadline() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	return d.at, true
}

func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	if d.armed == nil {
		if d.callers() {
			d.armed, d.cancel = context.WithCancel(d.Context)
		} else {
			d.armed, d.cancel = context.WithDeadline(d.Context, d.at)
		}
		if d.ended != nil {
			d.cancel()
		}
	}
	return d.armed.Done()
}

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	return d.err()
}

// err tells whether the time is over, and why: once it is, always the same; d.mu is
// held.
func (d *deadline) err() error {
	switch {
	case d.ended != nil:
	case d.armed != nil:
		d.ended = d.armed.Err()
	case d.Context.Err() != nil:
		d.ended = d.Context.Err()
	case !d.callers() && time.Until(d.at) <= 0:
		d.ended = context.DeadlineExceeded
	}
	return d.ended
}

// callers tells whether the caller's own deadline comes first. Then its context says
// when that is over, so that it is never over here before it is there; d.mu is held.
func (d *deadline) callers() bool { return d.given < d.after }

// Value lets contexts that are derived from this one find what it is made of.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	ctx := d.armed
	d.mu.Unlock()
	if ctx == nil {
		ctx = d.Context
	}
	return ctx.Value(key)
}

// timing is what a deadline tells of a call.
type timing uint8

const (
	unseen  timing = iota // nobody looked at the time
	inTime                // it did not run out, or not by itself
	hurried               // it ran out, but the caller had left little of it
	late                  // it ran out, and the store is to blame
)

// end stops the timer and tells how it went. Who had at least half of the time that
// it should is late. Below a tenth nobody is surprised.
func (d *deadline) end() timing {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() {
		d.ended = context.Canceled
		return unseen
	}
	err := d.err()
	if d.ended = cmp.Or(err, context.Canceled); d.cancel != nil {
		d.cancel()
	}
	switch {
	case err != context.DeadlineExceeded || d.given < d.after/10:
		return inTime
	case d.given < d.after/2:
		return hurried
	}
	return late
}
