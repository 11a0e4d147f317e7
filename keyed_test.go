package sluice_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

var errDown = errors.New("the store is down")

// flaky is a store that fails at some operations.
type flaky struct {
	mu   sync.Mutex
	mem  *memstore.Store
	down []store.Op
	took int
}

func (s *flaky) fail(ops ...store.Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = ops
}

func (s *flaky) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mem == nil {
		s.mem = memstore.New()
	}
	if s.took++; slices.Contains(s.down, op) {
		return errDown
	}
	return s.mem.Take(ctx, op, checks)
}

// TestKeyedVerbs for every algorithm, through the short way and through a store
// that is not ours.
func TestKeyedVerbs(t *testing.T) {
	ctx := context.Background()
	for _, text := range algorithms {
		if strings.HasPrefix(text, "warm_up") {
			continue // has no count that is left
		}
		text = strings.Replace(text, "/s", "/h", 1)
		if strings.HasPrefix(text, "leaky") {
			text += " burst=9"
		}
		for name, k := range map[string]*sluice.Keyed{
			"own":    sluice.NewKeyed(sluice.MustParse(text)),
			"custom": sluice.NewKeyed(sluice.MustParse(text), sluice.WithStore(&flaky{})),
		} {
			t.Run(name+" "+text, func(t *testing.T) {
				want := func(key string, left int64) {
					t.Helper()
					if d, err := k.Peek(ctx, key); err != nil || d.Remaining() != left || d.Allowed != (left > 0) && !strings.HasPrefix(text, "leaky") {
						t.Errorf("%s: %d left, want %d: allowed %v, %v", key, d.Remaining(), left, d.Allowed, err)
					}
				}
				want("ann", 10)
				if d, err := k.Allow(ctx, "ann"); err != nil || !d.Allowed || d.Remaining() != 9 || d.Limit() != k.Limits()[0] {
					t.Errorf("allowed %v, %d left, by %v, %v", d.Allowed, d.Remaining(), d.Limit(), err)
				}
				want("ann", 9)
				want("bob", 10)
				if strings.HasPrefix(text, "leaky") {
					return // lets one go at a time
				}
				if d, err := k.AllowN(ctx, "ann", 10); err != nil || d.Allowed || d.RetryAfter() <= 0 || d.ResetAfter() <= 0 {
					t.Errorf("too much: allowed %v, retry after %v, %v", d.Allowed, d.RetryAfter(), err)
				}
				if d, err := k.AllowN(ctx, "ann", 9); err != nil || !d.Allowed {
					t.Errorf("allowed %v, %v", d.Allowed, err)
				}
				want("ann", 0)
				if err := k.Refund(ctx, "ann", 4); err != nil {
					t.Error(err)
				}
				want("ann", 4)
				if err := k.Refund(ctx, "ann", 1000); err != nil {
					t.Error(err)
				}
				want("ann", 10)
				k.AllowN(ctx, "ann", 10)
				if err := k.Reset(ctx, "ann"); err != nil {
					t.Error(err)
				}
				want("ann", 10)
				if err := k.Wait(ctx, "ann"); err != nil {
					t.Error(err)
				}
				want("ann", 9)
			})
		}
	}
}

func TestKeyedBadInput(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("k", 1025)
	for _, more := range [][]string{nil, {"1000/h"}} {
		k, _ := keyed("10/h", more...)
		for name, f := range map[string]func(key string, cost int64) error{
			"AllowN":  func(key string, cost int64) error { _, err := k.AllowN(ctx, key, cost); return err },
			"Reserve": func(key string, cost int64) error { _, err := k.Reserve(ctx, key, cost); return err },
			"Refund":  func(key string, cost int64) error { return k.Refund(ctx, key, cost) },
			"WaitN":   func(key string, cost int64) error { return k.WaitN(ctx, key, cost) },
		} {
			for _, key := range []string{"", long} {
				if err := f(key, 1); !errors.Is(err, sluice.ErrKey) || !strings.HasPrefix(err.Error(), "sluice: ") {
					t.Errorf("%s: got %v", name, err)
				}
			}
			for _, cost := range []int64{-1, math.MinInt64, 1e15 + 1, math.MaxInt64} {
				if err := f("ann", cost); !errors.Is(err, sluice.ErrCost) {
					t.Errorf("%s: cost %d: got %v", name, cost, err)
				}
			}
		}
		for _, f := range []func() error{
			func() error { return k.Reset(ctx, "") },
			func() error { _, err := k.Allow(ctx, long); return err },
			func() error { _, err := k.Peek(ctx, ""); return err },
		} {
			if err := f(); !errors.Is(err, sluice.ErrKey) {
				t.Errorf("got %v", err)
			}
		}
		if d, err := k.AllowN(ctx, long[:1024], 10); err != nil || !d.Allowed {
			t.Errorf("a key of 1 KiB: allowed %v, %v", d.Allowed, err)
		}
	}
}

func TestStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, out := t.Context(), &bytes.Buffer{}
		s := &flaky{}
		k := sluice.NewKeyed(sluice.PerHour(10), sluice.WithStore(s), sluice.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
		s.fail(store.Spend, store.Reserve, store.Refund, store.Reset)
		lines := func() int { return strings.Count(out.String(), "could not decide") }
		ask := func() {
			t.Helper()
			_, a := k.Allow(ctx, "ann")
			_, b := k.Reserve(ctx, "ann", 1)
			for _, err := range []error{a, b, k.Refund(ctx, "ann", 1), k.Reset(ctx, "ann"), k.Wait(ctx, "ann")} {
				if !errors.Is(err, errDown) || !strings.HasPrefix(err.Error(), "sluice: ") {
					t.Errorf("got %v", err)
				}
			}
		}
		for range 5 {
			ask()
		}
		if lines() != 1 || !strings.Contains(out.String(), errDown.Error()) {
			t.Errorf("logged %q, want one line", out)
		}
		time.Sleep(second - time.Microsecond)
		if ask(); lines() != 1 {
			t.Errorf("%d lines within a second", lines())
		}
		time.Sleep(time.Microsecond)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { k.Allow(ctx, "ann") })
		}
		if all.Wait(); lines() != 2 {
			t.Errorf("%d lines after a second, want 2", lines())
		}
		s.fail()
		time.Sleep(time.Minute)
		k.Allow(ctx, "")
		k.AllowN(ctx, "ann", -1)
		if lines() != 2 {
			t.Errorf("the caller's mistakes were logged: %q", out)
		}
	})
}

// TestLoggerOfOurOwnStore: nothing to warn of, nothing logged.
func TestLoggerOfOurOwnStore(t *testing.T) {
	out := &bytes.Buffer{}
	k := sluice.NewKeyed(sluice.PerHour(1), sluice.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
	for range 3 {
		k.Allow(t.Context(), "ann")
	}
	k.Allow(t.Context(), "")
	if out.Len() > 0 {
		t.Errorf("logged %q", out)
	}
}

func TestNewKeyedPanics(t *testing.T) {
	clock := sluice.NewCoarseClock(second)
	defer clock.Stop()
	for name, f := range map[string]func(){
		"an invalid limit":    func() { sluice.NewKeyed(sluice.PerSecond(-1)) },
		"an invalid other":    func() { sluice.NewKeyed(sluice.PerSecond(1), sluice.WithLimits(sluice.Limit{})) },
		"a store and a clock": func() { sluice.NewKeyed(sluice.PerSecond(1), sluice.WithStore(&flaky{}), sluice.WithClock(newYear)) },
		"a store and a coarse": func() {
			sluice.NewKeyed(sluice.PerSecond(1), sluice.WithCoarseClock(clock), sluice.WithStore(&flaky{}))
		},
		"nothing in flight":     func() { sluice.NewConcurrency(0) },
		"less than nothing":     func() { sluice.NewConcurrency(-1) },
		"a limit made of holes": func() { sluice.NewLimiter(sluice.Limit{}) },
	} {
		if panics(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
