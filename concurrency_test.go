package sluice_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
)

// hold waits for a permit and puts it where the test finds it.
func hold(ctx context.Context, c *sluice.Concurrency, cost int64, to **sluice.Permit) func() error {
	return func() error {
		p, err := c.WaitN(ctx, cost)
		if err == nil {
			*to = p
		}
		return err
	}
}

// TestConcurrentSafeInFlight: never more than the limit, and in the end nothing.
func TestConcurrentSafeInFlight(t *testing.T) {
	c := sluice.NewConcurrency(3)
	var in, most atomic.Int64
	got := together(10, 200, func() bool {
		p, ok := c.Allow()
		if !ok {
			var err error
			if p, err = c.Wait(t.Context()); err != nil {
				return false
			}
		}
		for n := in.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		in.Add(-1)
		p.Release()
		return true
	})
	if got != 2000 || most.Load() > 3 || c.InFlight() != 0 {
		t.Errorf("%d were let in, %d at once, %d still are", got, most.Load(), c.InFlight())
	}
}

func TestConcurrencyIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewConcurrency(3)
		var a, b, d, e, f *sluice.Permit
		line := newLine()
		line.wait("a", hold(t.Context(), c, 2, &a))
		line.wait("b", hold(t.Context(), c, 3, &b))
		line.wait("d", hold(t.Context(), c, 1, &d)) // would fit, but b came first
		line.wait("e", hold(t.Context(), c, 1, &e))
		line.wait("f", hold(t.Context(), c, 2, &f))
		if _, ok := c.Allow(); ok || line.order() != "a" {
			t.Errorf("let in %q, and somebody who did not wait: %v", line.order(), ok)
		}
		for _, step := range []struct {
			release **sluice.Permit
			want    string
			used    int64
		}{{&a, "ab", 3}, {&b, "abde", 2}, {&d, "abdef", 3}, {&e, "abdef", 2}, {&f, "abdef", 0}} {
			(*step.release).Release()
			(*step.release).Release() // does nothing
			synctest.Wait()
			// Those who are let in at the same moment may report in any order.
			if got := line.order(); len(got) != len(step.want) || got[:2] != "ab" || c.InFlight() != step.used {
				t.Errorf("got %q with %d in flight, want %q with %d", got, c.InFlight(), step.want, step.used)
			}
		}
	})
}

func TestConcurrencyBadCosts(t *testing.T) {
	c := sluice.NewConcurrency(3)
	for _, cost := range []int64{0, -1, math.MinInt64} {
		if _, ok := c.AllowN(cost); ok {
			t.Errorf("%d was let in", cost)
		}
		if _, err := c.WaitN(t.Context(), cost); !errors.Is(err, sluice.ErrCost) {
			t.Errorf("%d: got %v", cost, err)
		}
	}
	for _, cost := range []int64{4, math.MaxInt64} {
		if _, ok := c.AllowN(cost); ok {
			t.Errorf("%d was let in", cost)
		}
		if _, err := c.WaitN(t.Context(), cost); !errors.Is(err, sluice.ErrLimited) || !strings.Contains(err.Error(), "limit of 3") {
			t.Errorf("%d: got %v", cost, err)
		}
	}
	if p, ok := c.AllowN(3); !ok || c.InFlight() != 3 {
		t.Error("the whole limit was not let in")
	} else {
		p.Release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wait(ctx); !errors.Is(err, context.Canceled) || c.InFlight() != 0 {
		t.Errorf("got %v, %d in flight", err, c.InFlight())
	}
}

// TestConcurrencyCancelledWaiters leave no trace and let those behind them in.
func TestConcurrencyCancelledWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewConcurrency(2)
		one, _ := c.Allow()
		ctx, cancel := context.WithCancel(t.Context())
		line := newLine()
		var a, b, d *sluice.Permit
		line.wait("a", hold(ctx, c, 2, &a))
		line.wait("b", hold(t.Context(), c, 1, &b))
		line.wait("d", hold(ctx, c, 1, &d))
		cancel()
		synctest.Wait()
		if line.order() != "b" || !errors.Is(line.err("a"), context.Canceled) || !errors.Is(line.err("d"), context.Canceled) {
			t.Errorf("got %q, %v, %v", line.order(), line.err("a"), line.err("d"))
		}
		one.Release()
		b.Release()
		if p, ok := c.AllowN(2); !ok || c.InFlight() != 2 {
			t.Errorf("%d in flight after all were released", c.InFlight())
		} else {
			p.Release()
		}
	})
}

// TestConcurrentSafeCancel: a permit that comes in the moment of giving up is
// not lost.
func TestConcurrentSafeCancel(t *testing.T) {
	c := sluice.NewConcurrency(1)
	together(4, 300, func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		p, err := c.Wait(ctx)
		if err == nil {
			p.Release()
		}
		return err == nil
	})
	if p, ok := c.Allow(); !ok || c.InFlight() != 1 {
		t.Errorf("%d in flight though all are done", c.InFlight())
	} else {
		p.Release()
	}
}

func TestConcurrencyExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewConcurrency(1, sluice.WithExpiry(10*second))
		stuck, _ := c.Allow()
		line := newLine()
		var next *sluice.Permit
		line.wait("next", hold(t.Context(), c, 1, &next))
		time.Sleep(6 * second)
		for range 2 {
			if !stuck.Renew() {
				t.Error("a permit that is held cannot be renewed")
			}
		}
		time.Sleep(10*second - time.Nanosecond)
		if synctest.Wait(); line.order() != "" {
			t.Error("taken back too early")
		}
		time.Sleep(time.Nanosecond)
		if synctest.Wait(); line.order() != "next" || line.times[0] != 16*second {
			t.Errorf("%q after %v, want next after 16s", line.order(), line.times)
		}
		if stuck.Renew() {
			t.Error("an expired permit was renewed")
		}
		stuck.Release()
		if c.InFlight() != 1 {
			t.Errorf("a release after the expiry counted: %d in flight", c.InFlight())
		}
		next.Release()
		if next.Renew() || c.InFlight() != 0 {
			t.Errorf("a released permit was renewed, %d in flight", c.InFlight())
		}
		time.Sleep(time.Minute)
		if c.InFlight() != 0 {
			t.Errorf("%d in flight", c.InFlight())
		}
	})
}

func TestConcurrencyWithoutExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []*sluice.Concurrency{sluice.NewConcurrency(1), sluice.NewConcurrency(1, sluice.WithExpiry(0))} {
			p, _ := c.Allow()
			time.Sleep(1000 * time.Hour)
			if c.InFlight() != 1 || p.Renew() {
				t.Errorf("%d in flight, or renewed", c.InFlight())
			}
			p.Release()
		}
	})
}

// TestConcurrentSafeExpiry: permits that expire at once, while they are renewed
// and released. The race detector judges.
func TestConcurrentSafeExpiry(t *testing.T) {
	c := sluice.NewConcurrency(4, sluice.WithExpiry(1))
	together(4, 300, func() bool {
		p, err := c.Wait(t.Context())
		if err != nil {
			return false
		}
		renewed := make(chan bool)
		go func() { renewed <- p.Renew() }()
		p.Renew()
		<-renewed
		p.Release()
		return true
	})
	if c.InFlight() != 0 {
		t.Errorf("%d in flight", c.InFlight())
	}
}

func TestConcurrencySetLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewConcurrency(3)
		first, _ := c.AllowN(3)
		var a, b, d *sluice.Permit
		line := newLine()
		line.wait("a", hold(t.Context(), c, 3, &a))
		line.wait("b", hold(t.Context(), c, 1, &b))
		for _, n := range []int64{0, -1} {
			if err := c.SetLimit(n); !errors.Is(err, sluice.ErrInvalidLimit) || c.Limit() != 3 {
				t.Errorf("%d: got %v, limit %d", n, err, c.Limit())
			}
		}
		// a can never come in now, and must not keep b out for ever.
		if err := c.SetLimit(2); err != nil || c.Limit() != 2 {
			t.Error(err)
		}
		synctest.Wait()
		if !errors.Is(line.err("a"), sluice.ErrLimited) || line.order() != "" || c.InFlight() != 3 {
			t.Errorf("got %v, %q, %d in flight", line.err("a"), line.order(), c.InFlight())
		}
		line.wait("d", hold(t.Context(), c, 2, &d))
		if err := c.SetLimit(4); err != nil {
			t.Error(err)
		}
		if synctest.Wait(); line.order() != "b" {
			t.Errorf("a larger limit let %q in, want b", line.order())
		}
		first.Release()
		if synctest.Wait(); line.order() != "bd" || c.InFlight() != 3 {
			t.Errorf("%q, %d in flight", line.order(), c.InFlight())
		}
		if _, ok := c.AllowN(2); ok {
			t.Error("more than the limit")
		}
	})
}
