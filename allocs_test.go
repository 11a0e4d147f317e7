package sluice_test

import (
	"context"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// TestNoAllocations: a decision takes no memory, whatever it says.
func TestNoAllocations(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{"10/s", "999983/s burst=10", "10/s refill=interval", "fixed_window 10/s", "sliding_window 10/s", "sliding_log 10/s", "10/mo"} {
		open, _ := limiter("1000000/h")
		open.Allow()
		shut, _ := limiter(text)
		shut.Decide(10)
		keyOpen, _ := keyed("1000000/h")
		keyShut, _ := keyed(text)
		keyShut.AllowN(ctx, "ann", 10)
		for name, f := range map[string]func() bool{
			"Limiter.Allow, allowed":  open.Allow,
			"Limiter.Allow, denied":   func() bool { return !shut.Allow() },
			"Limiter.Decide, allowed": func() bool { return open.Decide(2).Remaining() > 0 },
			"Limiter.Decide, denied":  func() bool { return shut.Decide(2).RetryAfter() > 0 },
			"Limiter.Peek":            func() bool { return !shut.Peek().Allowed },
			"Limiter.AllowN":          func() bool { return open.AllowN(start, 2) },
			"Keyed.Allow, allowed":    func() bool { d, err := keyOpen.Allow(ctx, "ann"); return err == nil && d.Allowed },
			"Keyed.Allow, denied":     func() bool { d, err := keyShut.Allow(ctx, "ann"); return err == nil && d.RetryAfter() > 0 },
			"Keyed.Peek":              func() bool { d, err := keyShut.Peek(ctx, "ann"); return err == nil && !d.Allowed },
			"Keyed.Peek, never seen":  func() bool { d, err := keyShut.Peek(ctx, "bob"); return err == nil && d.Allowed },
		} {
			noAllocations(t, text+": "+name, f)
		}
	}
}

func TestNoAllocationsForSeveral(t *testing.T) {
	ctx := context.Background()
	open := sluice.NewKeyed(sluice.PerHour(1_000_000), sluice.WithLimits(sluice.PerDay(1_000_000), sluice.MustParse("fixed_window 1000000/h")))
	shut, _ := keyed("10/s", "fixed_window 100/h", "10/d")
	shut.AllowN(ctx, "ann", 10)
	for name, f := range map[string]func() bool{
		"allowed": func() bool { d, err := open.Allow(ctx, "ann"); return err == nil && d.Allowed },
		"denied":  func() bool { d, err := shut.Allow(ctx, "ann"); return err == nil && d.RetryAfter() > 0 },
		"peek":    func() bool { d, err := shut.Peek(ctx, "ann"); return err == nil && !d.Allowed },
	} {
		noAllocations(t, name, f)
	}
}

func noAllocations(t *testing.T, name string, f func() bool) {
	t.Helper()
	bad := 0
	got := testing.AllocsPerRun(200, func() {
		if !f() {
			bad++
		}
	})
	if bad > 0 {
		t.Errorf("%s: %d answers were wrong", name, bad)
	}
	if got > allocations {
		t.Errorf("%s: %v allocations, want %v", name, got, allocations)
	}
}
