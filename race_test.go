package sluice_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

// together runs f in many goroutines and returns how often it said yes.
func together(n, times int, f func() bool) int64 {
	var yes atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for range times {
				if f() {
					yes.Add(1)
				}
			}
		})
	}
	all.Wait()
	return yes.Load()
}

// TestConcurrentSafeAllow: at one instant exactly the limit is let through.
func TestConcurrentSafeAllow(t *testing.T) {
	for _, text := range []string{
		"1000/s", "999983/s burst=1000", "1000/s refill=interval", "fixed_window 1000/s",
		"sliding_window 1000/s", "sliding_window 1000/s weighted", "sliding_log 1000/s", "1000/mo",
	} {
		l, clock := limiter(text)
		k, _ := keyed(text)
		both, _ := keyed(text, "2000/h")
		for name, f := range map[string]func() bool{
			"Allow":   l.Allow,
			"Keyed":   func() bool { d, err := k.Allow(t.Context(), "ann"); return err == nil && d.Allowed },
			"several": func() bool { d, err := both.Allow(t.Context(), "ann"); return err == nil && d.Allowed },
		} {
			if got := together(8, 200, f); got != 1000 {
				t.Errorf("%s: %s: %d allowed, want 1000", text, name, got)
			}
		}
		l.Reset()
		if got := together(8, 100, func() bool { return l.AllowN(clock.Now(), 3) }); got != 333 {
			t.Errorf("%s: AllowN: %d allowed, want 333", text, got)
		}
	}
}

// TestConcurrentSafeTime: while time passes, exactly what has come back more.
func TestConcurrentSafeTime(t *testing.T) {
	l, clock := limiter("1000/s burst=50")
	var steps atomic.Int64
	got := together(8, 500, func() bool {
		if n := steps.Add(1); n%8 == 0 && n <= 8*450 {
			clock.Add(ms)
		}
		return l.Allow()
	})
	for l.Allow() {
		got++
	}
	passed := clock.Now().Sub(start).Milliseconds()
	if got > 50+passed || got < 50 {
		t.Errorf("%d allowed in %d ms, want at most %d", got, passed, 50+passed)
	}
}

// TestConcurrentSafeSetLimit: while the limit changes to and fro at one instant,
// never more than the largest of them allows, and nothing is lost.
func TestConcurrentSafeSetLimit(t *testing.T) {
	for _, c := range []struct {
		limits [3]string
		most   int64
	}{
		// All three recover within a second, so that no change cuts anything.
		{[3]string{"100/s", "700/s", "1000/s"}, 1000},
		{[3]string{"100/s", "999983/s", "1000/s"}, 999983},
		{[3]string{"fixed_window 100/s", "fixed_window 500/s", "fixed_window 1000/s"}, 1000},
		{[3]string{"sliding_log 100/s", "sliding_log 500/s", "sliding_log 1000/s"}, 1000},
		{[3]string{"100/mo", "500/mo", "1000/mo"}, 1000},
	} {
		t.Run(fmt.Sprint(c.limits), func(t *testing.T) {
			l, _ := limiter(c.limits[2])
			k, _ := keyed(c.limits[2])
			stop := make(chan struct{})
			var changer sync.WaitGroup
			changer.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						limit := sluice.MustParse(c.limits[i%3])
						if l.SetLimit(limit) != nil || k.SetLimit(limit) != nil {
							t.Error("refused")
						}
					}
				}
			})
			got := together(4, 1000, l.Allow)
			gotKeyed := together(4, 1000, func() bool { d, err := k.Allow(t.Context(), "ann"); return err == nil && d.Allowed })
			close(stop)
			changer.Wait()
			if got > c.most || gotKeyed > c.most || got < 100 || gotKeyed < 100 {
				t.Errorf("%d and %d allowed, want 100 to %d", got, gotKeyed, c.most)
			}
		})
	}
}

// TestConcurrentSafeEverything: all methods at once. The race detector judges.
func TestConcurrentSafeEverything(t *testing.T) {
	ctx := t.Context()
	for _, text := range append([]string{"10/mo"}, algorithms...) {
		l := sluice.NewLimiter(sluice.MustParse(text))
		k := sluice.NewKeyed(sluice.MustParse(text), sluice.WithLimits(sluice.PerHour(100)))
		var turn atomic.Int64
		together(4, 150, func() bool {
			switch turn.Add(1) % 10 {
			case 0:
				l.Refund(1)
				_ = k.Refund(ctx, "ann", 1)
			case 1:
				l.Reset()
				_ = k.Reset(ctx, "ann")
			case 2:
				_ = l.SetLimit(l.Limit())
				_ = k.SetLimit(k.Limits()[0], k.Limits()[1:]...)
			case 3:
				l.Reserve().Cancel()
				if r, err := k.Reserve(ctx, "ann", 2); err == nil {
					_ = r.Commit(ctx, 1)
					r.Cancel()
				}
			case 4:
				_ = l.Tokens() + l.TokensAt(time.Now()) + float64(l.Burst())
			case 5:
				d, _ := k.Peek(ctx, "bob")
				return d.Remaining() > 0 && l.Peek().Allowed
			default:
				d, _ := k.Allow(ctx, "ann")
				return l.Allow() && d.Allowed
			}
			return false
		})
	}
}
