// Package floor holds the physical floors that the benchmarks compare with:
// the least work with which a decision can be made in simple Go.
//
// Nothing here is a usable rate limiter. There is no waiting, no refund, no
// change of a limit, no eviction and no growth; there are no errors and no
// options. The package imports only the standard library, so that a change to
// the library under test can never move its own yardstick.
//
//   - [Bucket] is one compare-and-swap on one word and one read of the
//     monotonic clock.
//   - [CoarseBucket] is the same with a clock that a goroutine moves once per
//     millisecond.
//   - [Word] is what is left of both without clock and limit: one load and one
//     compare-and-swap of one word.
//   - [Table] is a flat table of 24-byte slots with the decision of [Bucket].
//   - [WindowTable], [WarmUpTable] and [LogTable] are flat tables of states that are
//     more than a word: a slot has a lock, and the clock is read under it.
package floor

import (
	"sync/atomic"
	"time"
)

// Limit is a token bucket's rate and capacity in lowest terms. Time is counted
// in units of 1/n µs, in which both a microsecond and a token are whole
// numbers, so that no fraction is ever rounded.
type Limit struct {
	n        int64 // units per microsecond
	cost     int64 // units per token
	capacity int64 // units per full bucket
}

// NewLimit returns the limit of count tokens per period with room for burst
// tokens. Count, burst and the microseconds of period must be positive.
func NewLimit(count int64, period time.Duration, burst int64) Limit {
	micros := period.Microseconds()
	g := gcd(count, micros)
	cost := micros / g
	return Limit{n: count / g, cost: cost, capacity: cost * burst}
}

// Take decides on one token at the instant micros. The state is the instant at
// which the bucket will be full again; zero is a full bucket. A denied call
// writes nothing.
func (l *Limit) Take(state *atomic.Int64, micros int64) bool {
	now := micros * l.n
	for {
		old := state.Load()
		next := max(old, now) + l.cost
		if next-now > l.capacity {
			return false
		}
		if state.CompareAndSwap(old, next) {
			return true
		}
	}
}

// Bucket is one limiter: a word and a monotonic clock.
type Bucket struct {
	state atomic.Int64
	limit Limit
	base  time.Time
}

// NewBucket returns a full bucket.
func NewBucket(l Limit) *Bucket {
	return &Bucket{limit: l, base: time.Now()}
}

// Allow takes one token if there is one.
func (b *Bucket) Allow() bool {
	return b.limit.Take(&b.state, int64(time.Since(b.base)/time.Microsecond))
}

// Word is no limiter: it admits everything, and only shows how long a word takes
// to be read and swapped. On some machines a read waits for the swap before it, so
// that the two together take longer than each by itself.
type Word struct{ state atomic.Int64 }

// Allow counts, and reports true unless another goroutine did meanwhile.
func (w *Word) Allow() bool {
	old := w.state.Load()
	return w.state.CompareAndSwap(old, old+1)
}

// CoarseBucket is one limiter that reads a [CoarseClock].
type CoarseBucket struct {
	state atomic.Int64
	limit Limit
	clock *CoarseClock
}

// NewCoarseBucket returns a full bucket on the given clock.
func NewCoarseBucket(l Limit, c *CoarseClock) *CoarseBucket {
	return &CoarseBucket{limit: l, clock: c}
}

// Allow takes one token if there is one.
func (b *CoarseBucket) Allow() bool {
	return b.limit.Take(&b.state, b.clock.Micros())
}

// CoarseClock counts microseconds in a word that a goroutine moves once per
// step. It lags by up to a step and never leads.
type CoarseClock struct {
	_      [64]byte
	micros atomic.Int64
	_      [56]byte
	done   chan struct{}
}

// NewCoarseClock starts a clock that moves once per step.
func NewCoarseClock(step time.Duration) *CoarseClock {
	c := &CoarseClock{done: make(chan struct{})}
	go c.run(time.Now(), time.NewTicker(step))
	return c
}

// Micros returns the microseconds since the clock was started, as of its last
// step.
func (c *CoarseClock) Micros() int64 { return c.micros.Load() }

// Stop ends the clock's goroutine. It must be called once.
func (c *CoarseClock) Stop() { close(c.done) }

func (c *CoarseClock) run(base time.Time, t *time.Ticker) {
	defer t.Stop()
	for {
		select {
		case <-t.C:
			c.micros.Store(int64(time.Since(base) / time.Microsecond))
		case <-c.done:
			return
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
