package redisstore

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// gather drives riders after all who are ready to run have had their turn: many of them
// come along.
func (c *coalescer) gather(q *queue) {
	runtime.Gosched()
	q.mu.Lock()
	now := c.clock.Now()
	ride := q.ride(now, &c.pace)
	q.gathers = false
	c.attend(q, now)
	q.mu.Unlock()
	c.drive(q, ride, now)
}

// drive makes calls as long as there are riders; the first was sent at now.
func (c *coalescer) drive(q *queue, ride []*rider, now int64) {
	for ride != nil {
		c.callWatched(q, ride)
		if c.denials == nil {
			// Those who have just been answered ask again now, most likely: let
			// them come along.
			runtime.Gosched()
		}
		q.mu.Lock()
		i := slices.Index(q.calls, now)
		q.calls = slices.Delete(q.calls, i, i+1)
		q.sent -= len(ride)
		now = c.clock.Now()
		ride = q.ride(now, &c.pace)
		q.mu.Unlock()
	}
}

// callWatched makes one call. Where that is the only one, those who wait do not wait for
// long if it hangs: the next is made after a short while in any case.
func (c *coalescer) callWatched(q *queue, ride []*rider) {
	if c.pace.calls > 1 {
		c.call(ride)
		return
	}
	hangs := time.AfterFunc(time.Duration(c.pace.slow)*time.Microsecond, func() {
		q.mu.Lock()
		now := c.clock.Now()
		next := q.ride(now, &c.pace)
		q.mu.Unlock()
		c.drive(q, next, now)
	})
	c.call(ride)
	hangs.Stop()
}

// call makes one call for the riders that need it, and tells them.
func (c *coalescer) call(ride []*rider) {
	sent := c.clock.Now()
	aboard, timeout := c.board(ride, sent)
	if len(aboard) == 0 {
		return
	}
	decisions := make([]*decision, len(aboard))
	for i, r := range aboard {
		decisions[i] = &r.decision
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	err := c.wire.decide(ctx, decisions)
	cancel()
	for _, d := range decisions {
		switch {
		case err != nil:
			d.err = err
		case c.denials != nil && d.err == nil:
			c.denials.note(sent, sent, d.op, d.checks, nil)
		}
	}
	for _, r := range aboard {
		r.done <- struct{}{}
	}
}

// board picks the riders whose callers are still there, and tells how long they have.
// Who is known to be denied at this instant is told so, and not kept by the others.
func (c *coalescer) board(ride []*rider, now int64) (aboard []*rider, timeout time.Duration) {
	aboard = ride[:0]
	deadline, limited := time.Time{}, true
	for _, r := range ride {
		if r.left.Load() {
			continue
		}
		if c.denials != nil && c.denials.look(now, r.op, r.checks) == denied {
			r.known = true
			r.done <- struct{}{}
			continue
		}
		aboard = append(aboard, r)
		limited = limited && !r.deadline.IsZero()
		if r.deadline.After(deadline) {
			deadline = r.deadline
		}
	}
	if !limited {
		return aboard, longTime
	}
	return aboard, min(longTime, time.Until(deadline))
}
