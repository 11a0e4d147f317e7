package failover

import (
	"context"
	"sync"
	"time"
)

// deadline is the caller's context with the decision's deadline. The time begins to
// run, and costs something, when somebody first looks: a store that answers from
// memory never does. Whether somebody looked also tells whether the answer came
// from the store itself.
type deadline struct {
	context.Context // the caller's
	after           time.Duration

	mu     sync.Mutex
	armed  context.Context // nil until somebody looks
	cancel context.CancelFunc
	given  time.Duration // how much time there was then: the caller's may be less
	over   bool          // the decision has been made
}

func (d *deadline) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil {
		d.given = d.after
		if at, ok := d.Context.Deadline(); ok {
			d.given = min(d.given, time.Until(at))
		}
		d.armed, d.cancel = context.WithTimeout(d.Context, d.after)
		if d.over {
			d.cancel()
		}
	}
	return d.armed
}

func (d *deadline) Deadline() (time.Time, bool) { return d.arm().Deadline() }
func (d *deadline) Done() <-chan struct{}       { return d.arm().Done() }
func (d *deadline) Err() error                  { return d.arm().Err() }

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
	d.over = true
	if d.armed == nil {
		return unseen
	}
	err := d.armed.Err()
	d.cancel()
	switch {
	case err != context.DeadlineExceeded || d.given < d.after/10:
		return inTime
	case d.given < d.after/2:
		return hurried
	}
	return late
}
