package sluice_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
)

// TestSeveralLimits: all or nothing, the one that bound, and its true wait.
func TestSeveralLimits(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		limits []string
		spend  []int64 // before, each allowed
		cost   int64
		want   string // the limit that binds the cost; empty: allowed
		reason sluice.Reason
		retry  time.Duration
	}{
		{"the first", []string{"10/s", "1000/h"}, []int64{10}, 5, "10/s", sluice.Limited, 500 * ms},
		{"the second", []string{"10/s", "fixed_window 15/h"}, []int64{10}, 10, "fixed_window 15/h", sluice.Limited, time.Hour},
		{"the longest wait", []string{"fixed_window 5/m", "fixed_window 5/h", "fixed_window 5/s"}, []int64{5}, 1, "fixed_window 5/h", sluice.Limited, time.Hour},
		{"never before limited", []string{"fixed_window 10/h", "5/s"}, []int64{5}, 6, "5/s burst=5", sluice.Never, 0},
		{"banned before limited", []string{"1/h", "0/s"}, nil, 1, "0/s", sluice.Banned, 0},
		{"unlimited binds nobody", []string{"unlimited", "2/s"}, []int64{2}, 1, "2/s burst=2", sluice.Limited, 500 * ms},
		{"logs are one log", []string{"sliding_log 10/s", "sliding_log 15/m", "sliding_log 100/h"}, []int64{10}, 6, "sliding_log 15/m", sluice.Limited, time.Minute},
		{"logs, the shorter one", []string{"sliding_log 100/m", "sliding_log 10/s"}, []int64{10}, 1, "sliding_log 10/s", sluice.Limited, second},
		{"equal shapes are two", []string{"fixed_window 10/s", "fixed_window 5/s"}, []int64{5}, 1, "fixed_window 5/s", sluice.Limited, second},
		{"zones are two", []string{"9/d zone=Asia/Tokyo", "5/d zone=UTC"}, []int64{5}, 1, "5/d zone=UTC", sluice.Limited, 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, clock := keyed(c.limits[0], c.limits[1:]...)
			for _, cost := range c.spend {
				if d, err := k.AllowN(ctx, "ann", cost); err != nil || !d.Allowed {
					t.Fatalf("%d: denied by %v, %v", cost, d.Limit(), err)
				}
			}
			before, _ := k.Peek(ctx, "ann")
			d, err := k.AllowN(ctx, "ann", c.cost)
			if err != nil || d.Allowed || d.Reason != c.reason || d.RetryAfter() != c.retry {
				t.Fatalf("allowed %v, %v, retry after %v, want %v, %v: %v", d.Allowed, d.Reason, d.RetryAfter(), c.reason, c.retry, err)
			}
			if want := sluice.MustParse(c.want); d.Limit().String() != sluice.NewLimiter(want).Limit().String() {
				t.Errorf("bound by %v, want %v", d.Limit(), want)
			}
			if after, _ := k.Peek(ctx, "ann"); after.Remaining() != before.Remaining() {
				t.Errorf("the denial spent something: %d left, before %d", after.Remaining(), before.Remaining())
			}
			if c.reason != sluice.Limited {
				return
			}
			clock.Add(d.RetryAfter() - time.Microsecond)
			if d, _ := k.AllowN(ctx, "ann", c.cost); d.Allowed {
				t.Error("allowed a microsecond too early")
			}
			clock.Add(time.Microsecond)
			if d, _ := k.AllowN(ctx, "ann", c.cost); !d.Allowed {
				t.Errorf("RetryAfter lied: still denied for %v by %v", d.RetryAfter(), d.Limit())
			}
		})
	}
}

// TestDenialSpendsNothingElsewhere: the others have what they had.
func TestDenialSpendsNothingElsewhere(t *testing.T) {
	ctx := context.Background()
	k, clock := keyed("fixed_window 2/s", "fixed_window 10/h")
	for range 100 {
		k.Allow(ctx, "ann")
	}
	clock.Add(second)
	k.AllowN(ctx, "ann", 0)
	allowed := 0
	for range 10 {
		clock.Add(second)
		for range 3 {
			if d, _ := k.Allow(ctx, "ann"); d.Allowed {
				allowed++
			}
		}
	}
	if allowed != 8 {
		t.Errorf("%d allowed after the first 2, want 8", allowed)
	}
}

// TestLeastLeft: an allowance speaks of the limit that will bind first.
func TestLeastLeft(t *testing.T) {
	ctx := context.Background()
	k, clock := keyed("10/s", "fixed_window 12/h")
	if d, _ := k.AllowN(ctx, "ann", 5); d.Remaining() != 5 || d.Limit().Count != 10 {
		t.Errorf("%d left of %v", d.Remaining(), d.Limit())
	}
	clock.Add(second)
	if d, _ := k.AllowN(ctx, "ann", 5); d.Remaining() != 2 || d.Limit().Count != 12 {
		t.Errorf("%d left of %v", d.Remaining(), d.Limit())
	}
}

// TestWaitForSeveral: of bookings the longest counts, and with a window among
// the limits everybody queues.
func TestWaitForSeveral(t *testing.T) {
	for _, c := range []struct {
		limits []string
		want   time.Duration
	}{
		{[]string{"1/s", "1/5s", "unlimited"}, 10 * second},
		{[]string{"1/s", "fixed_window 1/5s"}, 10 * second},
		{[]string{"fixed_window 1/5s", "1/s"}, 10 * second},
		{[]string{"leaky_bucket 1/s", "2/s"}, 2 * second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var more []sluice.Limit
			for _, text := range c.limits[1:] {
				more = append(more, sluice.MustParse(text))
			}
			k := sluice.NewKeyed(sluice.MustParse(c.limits[0]), sluice.WithLimits(more...))
			begin := time.Now()
			for range 3 {
				if err := k.Wait(t.Context(), "ann"); err != nil {
					t.Fatal(err)
				}
			}
			if got := time.Since(begin); got != c.want {
				t.Errorf("%v: three took %v, want %v", c.limits, got, c.want)
			}
		})
	}
}

// TestFaultOfOneLog: of logs that are merged the one at fault is named.
func TestFaultOfOneLog(t *testing.T) {
	k, _ := keyed("sliding_log 10/s")
	err := k.SetLimit(sluice.MustParse("sliding_log 10/s"), sluice.PerHour(200_000).With(sluice.SlidingLog))
	fault(t, err, "count")
	var e *sluice.LimitError
	if errors.As(err, &e) && e.Limit != "sliding_log 200000/h" {
		t.Errorf("blames %q", e.Limit)
	}
	big := sluice.Limit{Algorithm: sluice.SlidingLog, Count: 200_000, Period: time.Hour, MaxLog: 200_000}
	if err := k.SetLimit(big, sluice.MustParse("sliding_log 10/s")); err != nil {
		t.Error(err)
	}
	if err := k.SetLimit(sluice.MustParse("sliding_log 10/s"), big); err != nil {
		t.Error(err)
	}
	many := make([]sluice.Limit, 256)
	for i := range many {
		many[i] = sluice.PerSecond(1).With(sluice.SlidingLog)
	}
	fault(t, k.SetLimit(many[0], many[1:]...), "limit")
	if got := k.Limits(); len(got) != 2 || got[1] != big {
		t.Errorf("after a refused change: %v", got)
	}
}

// TestNeverNamesTheWindow: of several logs merged into one, a cost that can never
// pass is refused by the one that is too small for it, however full the others are.
func TestNeverNamesTheWindow(t *testing.T) {
	k, clock := keyed("sliding_log 10/s", "sliding_log 100/m")
	for range 10 {
		k.AllowN(t.Context(), "a", 10)
		clock.Add(time.Second)
		if d, _ := k.AllowN(t.Context(), "a", 50); d.Reason != sluice.Never || d.Limit().Count != 10 {
			t.Errorf("%v by %v", d.Reason, d.Limit())
		}
	}
}
