package clock

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Coarse is a clock that is read in a nanosecond because a goroutine advances it
// once per resolution. It lags by up to that, more if the goroutine is starved,
// and never leads. A lagging clock lets less through, never more.
type Coarse struct {
	_     [64]byte     // whatever lies around it, nobody else writes on the line that all read
	tick  atomic.Int64 // the instant, or stopped
	_     [56]byte
	inner *Clock
	stop  chan struct{}
	once  sync.Once
}

// stopped is no instant.
const stopped = math.MinInt64

// NewCoarse starts a coarse clock. The resolution is at least 10 µs.
func NewCoarse(resolution time.Duration) *Coarse {
	c := &Coarse{inner: System(), stop: make(chan struct{})}
	first := c.inner.Now()
	c.tick.Store(first)
	go c.run(first, max(resolution, 10*time.Microsecond))
	return c
}

// run advances the clock, until somebody else has.
func (c *Coarse) run(last int64, resolution time.Duration) {
	tick := time.NewTicker(resolution)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			now := c.inner.Now()
			if !c.tick.CompareAndSwap(last, now) {
				return
			}
			last = now
		case <-c.stop:
			return
		}
	}
}

// Now returns the current instant.
func (c *Coarse) Now() int64 {
	if t := c.tick.Load(); t != stopped {
		return t
	}
	return c.inner.Now()
}

// Stop ends the goroutine. Limiters that use the clock go on and read the exact
// time from then on.
func (c *Coarse) Stop() {
	c.once.Do(func() {
		c.tick.Store(stopped)
		close(c.stop)
	})
}

// Clock returns the coarse clock as a Clock.
func (c *Coarse) Clock() *Clock {
	return &Clock{base: c.inner.base, start: c.inner.start, coarse: c}
}
