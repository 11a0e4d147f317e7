package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Coarse is a clock that is read in a nanosecond because a goroutine advances it
// once per resolution. It lags by up to that, more if the goroutine is starved,
// and never leads. A lagging clock lets less through, never more.
type Coarse struct {
	inner   *Clock
	cached  atomic.Int64
	stopped atomic.Bool
	stop    chan struct{}
	once    sync.Once
}

// NewCoarse starts a coarse clock. The resolution is at least 10 µs.
func NewCoarse(resolution time.Duration) *Coarse {
	c := &Coarse{inner: System(), stop: make(chan struct{})}
	c.cached.Store(c.inner.Now())
	go c.run(max(resolution, 10*time.Microsecond))
	return c
}

func (c *Coarse) run(resolution time.Duration) {
	tick := time.NewTicker(resolution)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.cached.Store(c.inner.Now())
		case <-c.stop:
			return
		}
	}
}

func (c *Coarse) now() int64 {
	if c.stopped.Load() {
		return c.inner.Now()
	}
	return c.cached.Load()
}

// Stop ends the goroutine. Limiters that use the clock go on and read the exact
// time from then on.
func (c *Coarse) Stop() {
	c.once.Do(func() {
		c.stopped.Store(true)
		close(c.stop)
	})
}

// Clock returns the coarse clock as a Clock.
func (c *Coarse) Clock() *Clock {
	return &Clock{base: c.inner.base, start: c.inner.start, coarse: c}
}
