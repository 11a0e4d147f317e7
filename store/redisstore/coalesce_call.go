package redisstore

import (
	"context"
	"runtime"
	"slices"
	"time"
)

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

// callWatched makes one call. Where that is the only one, nobody may come by later who
// notices that it hangs: so the next is made after a while in any case.
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

// call makes one call for the riders that need it, and tells all of them.
func (c *coalescer) call(ride []*rider) {
	sent := c.clock.Now()
	decisions, timeout := c.board(ride, sent)
	var err error
	if len(decisions) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		err = c.wire.decide(ctx, decisions)
		cancel()
	}
	for _, d := range decisions {
		switch {
		case err != nil:
			d.err = err
		case c.denials != nil && d.err == nil:
			c.denials.note(sent, sent, d.op, d.checks, nil)
		}
	}
	for _, r := range ride {
		r.done <- struct{}{}
	}
}

// board picks the riders whose callers are still there and who are not known to be
// denied at this instant, and tells how long they have.
func (c *coalescer) board(ride []*rider, now int64) (decisions []*decision, timeout time.Duration) {
	decisions = make([]*decision, 0, len(ride))
	deadline, limited := time.Time{}, true
	for _, r := range ride {
		if r.left.Load() {
			continue
		}
		if c.denials != nil && c.denials.look(now, r.op, r.checks) == denied {
			r.known = true
			continue
		}
		decisions = append(decisions, &r.decision)
		limited = limited && !r.deadline.IsZero()
		if r.deadline.After(deadline) {
			deadline = r.deadline
		}
	}
	if !limited {
		return decisions, longTime
	}
	return decisions, min(longTime, time.Until(deadline))
}
