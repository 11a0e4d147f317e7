// Package clock reads the time for everything in this module. No other file
// calls time.Now, so that whoever passes a clock in is sure to be asked.
package clock

import (
	"sync/atomic"
	"time"
)

// Clock gives instants in microseconds since 1970.
type Clock struct {
	exact  bool // the machine's clock, without a detour
	base   time.Time
	start  int64 // base in µs since 1970
	source func() time.Time
	coarse *Coarse

	// How far the wall clock has moved away from the monotonic one since base,
	// measured at most once a second; it never shrinks.
	drift    atomic.Int64
	measured atomic.Int64
}

// System returns the machine's own clock. Now is monotonic: it never goes back
// and does not follow the wall clock when that is set.
func System() *Clock {
	now := time.Now()
	return &Clock{exact: true, base: now, start: now.UnixMicro()}
}

// Func returns a clock that asks source, which may jump as it likes.
func Func(source func() time.Time) *Clock {
	now := source()
	return &Clock{base: now, start: now.UnixMicro(), source: source}
}

// Now returns the current instant, by the monotonic clock.
func (c *Clock) Now() int64 {
	if c.exact {
		return c.start + int64(time.Since(c.base))/1000
	}
	if c.source != nil {
		return c.source().UnixMicro()
	}
	return c.coarse.Now()
}

// Base returns the time at which the clock was made, and whether Now is simply
// the time since then: who reads it most often may do so without the detour.
func (c *Clock) Base() (time.Time, bool) { return c.base, c.exact }

// Start returns the instant at which the clock was made.
func (c *Clock) Start() int64 { return c.start }

// At turns t into an instant of this clock.
func (c *Clock) At(t time.Time) int64 {
	if c.source != nil {
		return t.UnixMicro()
	}
	return c.start + int64(t.Sub(c.base))/1000
}

// Time turns an instant of this clock into a time.
func (c *Clock) Time(now int64) time.Time {
	if c.source != nil {
		return time.UnixMicro(now)
	}
	return c.base.Add(time.Duration(now-c.start) * time.Microsecond)
}

// Wall returns the wall-clock instant that belongs to now, for windows that are
// aligned to the time of day.
func (c *Clock) Wall(now int64) int64 {
	if c.source != nil {
		return now
	}
	if last := c.measured.Load(); now-last >= 1e6 && c.measured.CompareAndSwap(last, now) {
		c.measure()
	}
	return now + c.drift.Load()
}

func (c *Clock) measure() {
	t := time.Now()
	drift := t.UnixMicro() - c.start - int64(t.Sub(c.base))/1000
	for {
		old := c.drift.Load()
		if drift <= old || c.drift.CompareAndSwap(old, drift) {
			return
		}
	}
}
