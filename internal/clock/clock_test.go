package clock_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

func TestSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.System()
		if c.Start() != time.Now().UnixMicro() || c.Now() != c.Start() {
			t.Errorf("starts at %d, is at %d, want %d", c.Start(), c.Now(), time.Now().UnixMicro())
		}
		time.Sleep(1500 * time.Microsecond)
		if got := c.Now() - c.Start(); got != 1500 {
			t.Errorf("%d µs passed, want 1500", got)
		}
		later := time.Now().Add(time.Hour)
		if got := c.At(later); got != later.UnixMicro() || c.At(later.Round(0)) != got {
			t.Errorf("an hour on is %d, want %d", got, later.UnixMicro())
		}
		if got := c.Time(c.At(later)); !got.Equal(later) {
			t.Errorf("%v became %v", later, got)
		}
		if c.At(time.Time{}) >= c.Start() {
			t.Error("the zero time is not before now")
		}
	})
}

// TestWall: without anybody setting the clock, wall time is the same, and it is
// measured again every second.
func TestWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []*clock.Clock{clock.System(), clock.Func(time.Now)} {
			for range 5 {
				if now := c.Now(); c.Wall(now) != now {
					t.Errorf("%d by the monotonic clock, %d by the wall clock", now, c.Wall(now))
				}
				time.Sleep(700 * time.Millisecond)
			}
		}
	})
}

// TestFunc: what the source says, forwards and backwards.
func TestFunc(t *testing.T) {
	now := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	c := clock.Func(func() time.Time { return now })
	first := now.UnixMicro()
	for _, step := range []time.Duration{0, time.Hour, -48 * time.Hour} {
		now = now.Add(step)
		if c.Now() != now.UnixMicro() || c.Start() != first || c.At(now) != c.Now() || !c.Time(c.Now()).Equal(now) {
			t.Errorf("after %v: %d, want %d", step, c.Now(), now.UnixMicro())
		}
	}
}

// TestCoarse: it lags by up to the resolution, never leads, and is exact once
// it is stopped.
func TestCoarse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		coarse := clock.NewCoarse(time.Millisecond)
		c := coarse.Clock()
		begin := time.Now()
		passed := func() (coarse, exact int64) { return c.Now() - c.Start(), time.Since(begin).Microseconds() }
		for range 50 {
			time.Sleep(170 * time.Microsecond)
			synctest.Wait()
			if got, exact := passed(); got > exact || got < exact-1000 || got%1000 != 0 {
				t.Errorf("%d µs passed, it says %d", exact, got)
			}
		}
		coarse.Stop()
		coarse.Stop()
		time.Sleep(123 * time.Microsecond)
		if got, exact := passed(); got != exact {
			t.Errorf("stopped: %d µs passed, it says %d", exact, got)
		}
	})
}

// TestCoarseStopsAtATick: a tick that comes in the very moment of Stop does not freeze
// the clock.
func TestCoarseStopsAtATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			coarse := clock.NewCoarse(time.Millisecond)
			c := coarse.Clock()
			begin := time.Now()
			time.Sleep(time.Millisecond)
			coarse.Stop()
			synctest.Wait()
			time.Sleep(123 * time.Microsecond)
			if got, exact := c.Now()-c.Start(), time.Since(begin).Microseconds(); got != exact {
				t.Fatalf("%d µs passed, it says %d", exact, got)
			}
		}
	})
}

// TestCoarseResolution: none is too fine, and nothing is left behind by Stop.
func TestCoarseResolution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{-1, 0, 1} {
			coarse := clock.NewCoarse(d)
			c := coarse.Clock()
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if got := c.Now() - c.Start(); got < 990 || got > 1000 {
				t.Errorf("%v: %d µs of 1000 passed", d, got)
			}
			if now := c.Now(); c.Wall(now) != now || c.Time(now).UnixMicro() != now {
				t.Errorf("%v: wall clock %d, time %v, want %d", d, c.Wall(now), c.Time(now), now)
			}
			coarse.Stop()
		}
	})
}

func TestSleepAndPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := clock.Sleep(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("slept %v, %v", time.Since(start), err)
		}
		if got := clock.Patience(t.Context()); got != math.MaxInt64 {
			t.Errorf("patience without a deadline is %d", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := clock.Patience(ctx); got != 1e6 {
			t.Errorf("patience of a second is %d µs", got)
		}
		if err := clock.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sleeping over the deadline: %v", err)
		}
		if got := clock.Patience(ctx); got != 0 {
			t.Errorf("patience after the deadline is %d", got)
		}
	})
}
