package sluice_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

// TestSetLimit: what is left after a change, on a Limiter and on a Keyed.
func TestSetLimit(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		from, to string
		spend    int64
		left     int64
		retry    time.Duration // of a cost of left + 1, if that is possible
	}{
		{"the same", "10/s", "10/s", 4, 6, 100 * ms},
		{"a larger burst keeps the instant of recovery", "10/s", "10/s burst=20", 10, 10, 100 * ms},
		{"a smaller burst cuts it", "10/s burst=20", "10/s burst=10", 20, 0, 100 * ms},
		{"a smaller burst that binds nobody", "10/s burst=20", "10/s burst=10", 5, 5, 100 * ms},
		{"a faster rate", "10/s", "20/s", 10, 0, 50 * ms},
		{"another unit", "10/s", "3/s", 10, 0, 333334 * time.Microsecond},
		{"to a unit too fine for a word", "10/s", "999983/s", 10, 0, 2 * time.Microsecond},
		{"from a unit too fine for a word", "999983/s", "10/s", 999983, 0, 100 * ms},
		{"a smaller window binds at once", "fixed_window 10/s", "fixed_window 5/s", 8, 0, second},
		{"a larger window frees at once", "fixed_window 10/s", "fixed_window 20/s", 10, 10, second},
		{"a smaller sliding window", "sliding_window 10/s", "sliding_window 5/s", 8, 0, second},
		{"a larger sliding window", "sliding_window 10/s", "sliding_window 20/s", 10, 10, second},
		{"a smaller log", "sliding_log 10/s", "sliding_log 5/s", 8, 0, second},
		{"a larger log", "sliding_log 10/s", "sliding_log 20/s", 10, 10, second},
		{"another period is fresh", "10/s", "10/m", 10, 10, 0},
		{"another algorithm is fresh", "10/s", "fixed_window 10/s", 10, 10, 0},
		{"another refill is fresh", "10/s", "10/s refill=interval", 10, 10, 0},
		{"from a window to a bucket", "sliding_log 10/s", "10/s", 10, 10, 0},
		{"to a calendar", "10/s", "10/d zone=UTC", 10, 10, 0},
		{"from a calendar", "10/d zone=UTC", "10/s", 10, 10, 0},
		{"to a ban", "10/s", "0/s", 5, 0, 0},
		{"to no limit", "10/s", "unlimited", 10, 1e15, 0},
		{"from no limit", "unlimited", "10/s", 1e9, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _ := limiter(c.from)
			k, _ := keyed(c.from)
			if d, err := k.AllowN(ctx, "ann", c.spend); err != nil || !d.Allowed || !l.Decide(c.spend).Allowed {
				t.Fatalf("cannot spend %d: %v", c.spend, err)
			}
			limit := sluice.MustParse(c.to)
			if err := errors.Join(l.SetLimit(limit), k.SetLimit(limit)); err != nil {
				t.Fatal(err)
			}
			dk, err := k.Peek(ctx, "ann")
			if d := l.Peek(); d.Remaining() != c.left || dk.Remaining() != c.left || err != nil {
				t.Errorf("Limiter has %d left, Keyed %d, want %d: %v", d.Remaining(), dk.Remaining(), c.left, err)
			}
			if c.left == 0 && l.Allow() {
				t.Error("allowed with nothing left")
			}
			if c.retry == 0 {
				return
			}
			dk, err = k.AllowN(ctx, "ann", c.left+1)
			if d := l.Decide(c.left + 1); d.Reason == sluice.Limited && (d.RetryAfter() != c.retry || dk.RetryAfter() != c.retry || err != nil) {
				t.Errorf("retry after %v and %v, want %v: %v", d.RetryAfter(), dk.RetryAfter(), c.retry, err)
			}
		})
	}
}

func TestSetLimitRefusesNonsense(t *testing.T) {
	l, _ := limiter("10/s")
	k, _ := keyed("10/s", "100/h")
	l.Decide(4)
	fault(t, l.SetLimit(sluice.PerSecond(-1)), "count")
	fault(t, l.SetBurst(0), "burst")
	fault(t, l.SetBurst(-1), "burst")
	fault(t, k.SetLimit(sluice.PerSecond(5), sluice.Limit{}), "period")
	if l.Limit().String() != "10/s" || l.Tokens() != 6 || len(k.Limits()) != 2 {
		t.Errorf("the old limits did not go on: %v, %v", l.Limit(), k.Limits())
	}
	if err := l.SetBurst(20); err != nil || l.Limit().String() != "10/s burst=20" || l.Burst() != 20 {
		t.Errorf("got %v, %v", l.Limit(), err)
	}
	w, _ := limiter("fixed_window 10/s")
	fault(t, w.SetBurst(5), "burst")
}

// TestSettleAfterAChange: a reservation under a limit that is no more gives
// nothing back to the one that started fresh, and takes nothing from it.
func TestSettleAfterAChange(t *testing.T) {
	for _, c := range [][2]string{{"fixed_window 10/h", "fixed_window 10/m"}, {"10/h", "10/m"}, {"sliding_log 10/h", "10/h"}} {
		for _, actual := range []int64{0, 1, 7} {
			l, _ := limiter(c[0])
			k, _ := keyed(c[0])
			r := l.ReserveN(start, 5)
			rk, err := k.Reserve(t.Context(), "ann", 5)
			limit := sluice.MustParse(c[1])
			if err := errors.Join(err, l.SetLimit(limit), k.SetLimit(limit)); err != nil {
				t.Fatal(err)
			}
			l.Decide(8)
			k.AllowN(t.Context(), "ann", 8)
			if err := errors.Join(r.Commit(t.Context(), actual), rk.Commit(t.Context(), actual)); err != nil {
				t.Error(err)
			}
			if d, _ := k.Peek(t.Context(), "ann"); l.Tokens() != 2 || d.Remaining() != 2 {
				t.Errorf("%v: after a commit of %d Limiter has %v left, Keyed %d, want 2", c, actual, l.Tokens(), d.Remaining())
			}
		}
	}
}

// TestLimitsAreCopied: who gets the limits cannot change them.
func TestLimitsAreCopied(t *testing.T) {
	k, _ := keyed("10/s")
	k.Limits()[0].Count = 1000
	if k.Limits()[0].Count != 10 {
		t.Error("the limits were changed from outside")
	}
}

// TestSetLimitOfSeveral: limits keep what was spent by their shape, not by
// their place.
func TestSetLimitOfSeveral(t *testing.T) {
	ctx := context.Background()
	k, _ := keyed("10/s", "fixed_window 100/h")
	k.AllowN(ctx, "ann", 10)
	if err := k.SetLimit(sluice.MustParse("fixed_window 50/h"), sluice.MustParse("unlimited")); err != nil {
		t.Fatal(err)
	}
	if d, err := k.Peek(ctx, "ann"); d.Remaining() != 40 || err != nil {
		t.Errorf("%d left, want 40: %v", d.Remaining(), err)
	}
}
