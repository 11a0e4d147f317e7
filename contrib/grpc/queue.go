package sluicegrpc

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice"
)

// queue decides by a Keyed, and holds calls that may wait.
type queue struct {
	keyed *sluice.Keyed
	wait  time.Duration // of Wait
	most  int64
	share int64 // of most, that one key can have

	mu    sync.Mutex
	total int64            // how many wait; guarded by mu
	ofKey map[string]int64 // how many of each key; guarded by mu
}

func newQueue(k *sluice.Keyed, i *Interceptor) *queue {
	return &queue{keyed: k, wait: i.maxWait, most: i.maxWaiters, share: max(1, i.maxWaiters/10), ofKey: map[string]int64{}}
}

// decide asks, and waits if the call may, until ctx ends at the latest. Who comes while
// others of its key wait does not ask before them.
func (q *queue) decide(ctx context.Context, key string, cost int64) (d sluice.Decision, err error) {
	if q.wait <= 0 || !q.busy(key) {
		d, err = q.keyed.AllowN(ctx, key, cost)
		if err != nil || d.Reason != sluice.Limited || !q.holds(ctx, &d) {
			return d, err
		}
	}
	if !q.join(key) {
		d.Reason = sluice.Limited
		return d, nil
	}
	defer q.part(key)
	if q.wait <= 0 {
		bounded, cancel := context.WithTimeout(ctx, queueTime(d.Limit()))
		defer cancel()
		ctx = bounded
	}
	if err := q.keyed.WaitN(ctx, key, cost); err != nil {
		return sluice.Decision{}, err // what was said before is no longer true
	}
	d.Allowed, d.Reason = true, 0
	return d, nil
}

// holds reports whether a denied call may wait: if Wait says so and it is not in vain, or
// at a leaky bucket with nothing beside it that takes no bookings.
func (q *queue) holds(ctx context.Context, d *sluice.Decision) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d.RetryAfter() {
		return false
	}
	return q.wait > 0 || d.Limit().Algorithm == sluice.LeakyBucket && d.Plan().Books()
}

// queueTime returns how long a leaky bucket lets wait at most, and a bit more. Limits
// beside it must not make that longer.
func queueTime(l sluice.Limit) time.Duration {
	full := float64(l.Period) * float64(l.Burst+1) / float64(max(1, l.Count))
	return time.Duration(min(full, math.MaxInt64/2))
}

// busy reports whether calls of this key wait.
func (q *queue) busy(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ofKey[key] > 0
}

// join lets one more wait, if there is room.
func (q *queue) join(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.total >= q.most || q.ofKey[key] >= q.share {
		return false
	}
	q.total++
	q.ofKey[key]++
	return true
}

// part is for those that join has let wait.
func (q *queue) part(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total--
	if q.ofKey[key]--; q.ofKey[key] == 0 {
		delete(q.ofKey, key)
	}
}
