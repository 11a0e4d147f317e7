package redisstore

import (
	"context"
	"sync/atomic"
	"time"
)

// rider is a decision in a queue. It has checks of its own, because the caller
// may leave before it is answered.
type rider struct {
	decision
	deadline time.Time // zero: none
	left     atomic.Bool
	done     chan struct{} // has room for one
}

// newRider copies a decision.
func (c *coalescer) newRider(ctx context.Context, d *decision) *rider {
	r := c.riders.Get().(*rider)
	checks := append(r.checks[:0], d.checks...)
	r.decision = *d
	r.checks = checks
	r.deadline, _ = ctx.Deadline()
	return r
}

// answer copies the answers back.
func (c *coalescer) answer(r *rider, d *decision) error {
	copy(d.checks, r.checks)
	d.rank, d.live, d.again, d.known = r.rank, r.live, r.again, r.known
	err := r.err
	clear(r.checks)
	if cap(r.checks) <= 16 {
		c.riders.Put(r)
	}
	return err
}
