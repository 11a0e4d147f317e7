package sluice_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
)

// notes writes down every decision.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) Observe(key string, cost int64, d sluice.Decision) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf("%s:%d:%v%v", key, cost, d.Allowed, d.Reason))
}

func (n *notes) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() { n.all = nil }()
	return strings.Join(n.all, " ")
}

func TestObserverSeesTheLimiter(t *testing.T) {
	for _, text := range []string{"2/h", "fixed_window 2/h", "2/mo"} {
		n := &notes{}
		l := sluice.NewLimiter(sluice.MustParse(text), sluice.WithObserver(n), newClock().option())
		l.Allow()
		l.AllowN(start, 1)
		l.Allow()
		l.Decide(3)
		l.Peek()
		if got, want := n.take(), ":1:true :1:true :1:falselimited :3:falsenever :0:falselimited"; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		l.Reset()
		l.Reserve()
		if err := l.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := n.take(), ":1:true :1:true"; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		if err := l.SetLimit(sluice.PerHour(0)); err != nil {
			t.Error(err)
		}
		l.Allow()
		if got, want := n.take(), ":1:falsebanned"; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestObserverSeesKeys(t *testing.T) {
	ctx := context.Background()
	for _, more := range []sluice.KeyedOption{sluice.WithLimits(), sluice.WithLimits(sluice.PerDay(100)), sluice.WithStore(&flaky{})} {
		n := &notes{}
		k := sluice.NewKeyed(sluice.PerHour(2), sluice.WithObserver(n), more)
		k.Allow(ctx, "ann")
		k.AllowN(ctx, "bob", 2)
		k.AllowN(ctx, "bob", 2)
		k.Peek(ctx, "ann")
		k.Reserve(ctx, "cid", 1)
		k.Wait(ctx, "ann")
		k.Allow(ctx, "") // an error is no decision
		k.Refund(ctx, "ann", 1)
		k.Reset(ctx, "ann")
		want := "ann:1:true bob:2:true bob:2:falselimited ann:0:true cid:1:true ann:1:true"
		if got := n.take(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestObserverSeesEveryQuestion of one who waits for a window.
func TestObserverSeesEveryQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		k := sluice.NewKeyed(sluice.MustParse("sliding_log 1/s"), sluice.WithObserver(n))
		for range 2 {
			if err := k.Wait(t.Context(), "ann"); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := n.take(), "ann:1:true ann:1:falselimited ann:1:true"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestCoarseClock lags by up to its resolution, never leads, and is exact once
// it is stopped.
func TestCoarseClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewCoarseClock(10 * ms)
		l := sluice.NewLimiter(sluice.PerSecond(1000).WithBurst(1), sluice.WithCoarseClock(c))
		k := sluice.NewKeyed(sluice.PerSecond(1000).WithBurst(1), sluice.WithCoarseClock(c))
		allow := func(want bool) {
			t.Helper()
			d, err := k.Allow(t.Context(), "ann")
			if got := l.Allow(); got != want || d.Allowed != want || err != nil {
				t.Errorf("Limiter %v, Keyed %v, want %v: %v", got, d.Allowed, want, err)
			}
		}
		allow(true)
		time.Sleep(9 * ms)
		allow(false) // it lags
		time.Sleep(ms)
		synctest.Wait()
		allow(true)
		allow(false)
		c.Stop()
		c.Stop()
		time.Sleep(ms)
		allow(true) // exact
		allow(false)
	})
}
