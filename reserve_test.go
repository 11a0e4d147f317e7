package sluice_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

func TestReserveDelays(t *testing.T) {
	l, clock := limiter("10/s")
	for i, c := range []struct {
		at    time.Duration
		n     int
		delay time.Duration
	}{{0, 10, 0}, {0, 5, 500 * ms}, {0, 5, second}, {200 * ms, 1, 900 * ms}, {5 * second, 10, 0}, {5 * second, 0, 0}} {
		r := l.ReserveN(start.Add(c.at), c.n)
		if got := r.DelayFrom(start.Add(c.at)); got != c.delay || r.OK() != (c.n > 0) && c.n > 0 {
			t.Errorf("%d: delay %v, want %v", i, got, c.delay)
		}
	}
	l.Reset()
	l.Decide(10)
	r := l.Reserve()
	clock.Add(30 * ms)
	if r.Delay() != 70*ms || r.DelayFrom(start) != 100*ms || r.Wait() != 100*ms {
		t.Errorf("delays %v, %v and wait %v", r.Delay(), r.DelayFrom(start), r.Wait())
	}
	clock.Add(time.Hour)
	if r.Delay() != 0 {
		t.Errorf("delay %v after it is due", r.Delay())
	}
	if r := l.ReserveN(clock.Now(), 11); r.OK() || r.Delay() != sluice.InfDuration || r.DelayFrom(start) != sluice.InfDuration {
		t.Error("more than the burst was reserved")
	}
}

// TestReserveOnWindows: nothing is booked there.
func TestReserveOnWindows(t *testing.T) {
	for _, text := range []string{"fixed_window 10/s", "sliding_window 10/s", "sliding_window 10/s weighted", "sliding_log 10/s"} {
		l, _ := limiter(text)
		k, _ := keyed(text)
		if r := l.ReserveN(start, 10); !r.OK() || r.Delay() != 0 {
			t.Errorf("%s: OK %v, delay %v", text, r.OK(), r.Delay())
		}
		if r := l.Reserve(); r.OK() || r.Delay() != sluice.InfDuration || r.RetryAfter() <= 0 {
			t.Errorf("%s: OK %v, retry after %v", text, r.OK(), r.RetryAfter())
		}
		if r, err := k.Reserve(t.Context(), "ann", 10); err != nil || !r.OK() {
			t.Errorf("%s: %v", text, err)
		}
		if r, err := k.Reserve(t.Context(), "ann", 1); err != nil || r.OK() || r.RetryAfter() <= 0 {
			t.Errorf("%s: the second was reserved, %v", text, err)
		}
	}
}

func TestCancelReservation(t *testing.T) {
	l, clock := limiter("10/s")
	l.Decide(10)
	first, second_ := l.ReserveN(clock.Now(), 3), l.ReserveN(clock.Now(), 3)
	first.Cancel() // somebody has booked after it
	if got := l.Reserve().Delay(); got != 700*ms {
		t.Errorf("behind a cancelled one: %v, want 700ms", got)
	}
	second_.Cancel()
	if got := l.Reserve().Delay(); got != 800*ms {
		t.Errorf("behind two cancelled ones: %v, want 800ms", got)
	}
	last := l.ReserveN(clock.Now(), 5)
	last.Cancel()
	last.Cancel()
	if got := l.Reserve().Delay(); got != 900*ms {
		t.Errorf("after the last was cancelled: %v, want 900ms", got)
	}
}

// settling runs f on a Limiter and on a Keyed. left tells what is left.
func settling(t *testing.T, text string, f func(t *testing.T, reserve func(int64) *sluice.Reservation, left func() int64, clock *clock)) {
	t.Run("Limiter", func(t *testing.T) {
		l, clock := limiter(text)
		f(t, func(n int64) *sluice.Reservation { return l.ReserveN(clock.Now(), int(n)) },
			func() int64 { return l.Peek().Remaining() }, clock)
	})
	t.Run("Keyed", func(t *testing.T) {
		k, clock := keyed(text)
		f(t, func(n int64) *sluice.Reservation {
			r, err := k.Reserve(t.Context(), "ann", n)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}, func() int64 {
			d, err := k.Peek(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			return d.Remaining()
		}, clock)
	})
}

func TestCommit(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{"10/h", "10/h refill=interval", "leaky_bucket 10/h burst=9", "fixed_window 10/h", "sliding_window 10/h", "sliding_log 10/h"} {
		settling(t, text, func(t *testing.T, reserve func(int64) *sluice.Reservation, left func() int64, _ *clock) {
			same := reserve(2)
			if err := same.Commit(ctx, 2); err != nil || left() != 8 {
				t.Errorf("the same: %d left, %v", left(), err)
			}
			if text == "leaky_bucket 10/h burst=9" {
				return // what follows waits there, and gives back by other rules
			}
			less := reserve(5)
			if err := less.Commit(ctx, 1); err != nil || left() != 7 {
				t.Errorf("less: %d left, %v", left(), err)
			}
			more := reserve(1)
			if err := more.Commit(ctx, 4); err != nil || left() != 3 {
				t.Errorf("more: %d left, %v", left(), err)
			}
			if err := more.Commit(ctx, 0); !errors.Is(err, sluice.ErrSettled) || left() != 3 {
				t.Errorf("twice: %d left, %v", left(), err)
			}
			none := reserve(3)
			none.Cancel()
			if err := none.Commit(ctx, 3); !errors.Is(err, sluice.ErrSettled) || left() != 3 {
				t.Errorf("after Cancel: %d left, %v", left(), err)
			}
			debt := reserve(3)
			if err := debt.Commit(ctx, 20); err != nil || left() != 0 {
				t.Errorf("debt: %d left, %v", left(), err)
			}
			denied := reserve(11)
			if err := denied.Commit(ctx, 1); !errors.Is(err, sluice.ErrSettled) || denied.OK() {
				t.Errorf("denied: OK %v, %v", denied.OK(), err)
			}
		})
	}
}

func TestCommitBadCosts(t *testing.T) {
	settling(t, "10/h", func(t *testing.T, reserve func(int64) *sluice.Reservation, left func() int64, _ *clock) {
		r := reserve(5)
		for _, actual := range []int64{-1, math.MinInt64, math.MaxInt64} {
			if err := r.Commit(context.Background(), actual); !errors.Is(err, sluice.ErrCost) {
				t.Errorf("%d: got %v", actual, err)
			}
		}
		if err := r.Commit(context.Background(), 1); err != nil || left() != 9 {
			t.Errorf("a bad cost settled it: %d left, %v", left(), err)
		}
	})
}

func TestCommitAfterExpiry(t *testing.T) {
	k, clock := keyed("10/d")
	r, err := k.Reserve(t.Context(), "ann", 10)
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(sluice.Hold)
	if err := r.Commit(t.Context(), 0); !errors.Is(err, sluice.ErrSettled) {
		t.Errorf("got %v", err)
	}
	if d, _ := k.Peek(t.Context(), "ann"); d.Allowed {
		t.Error("an expired reservation was given back")
	}
}

func TestCommitAfterReset(t *testing.T) {
	k, _ := keyed("10/d", "fixed_window 20/h")
	r, err := k.Reserve(t.Context(), "ann", 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Reset(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), 20); !errors.Is(err, sluice.ErrSettled) {
		t.Errorf("got %v", err)
	}
}

// TestReserveSeveral: all limits are settled together.
func TestReserveSeveral(t *testing.T) {
	k, _ := keyed("10/h", "fixed_window 20/h", "sliding_log 30/h", "unlimited")
	r, err := k.Reserve(t.Context(), "ann", 8)
	if err != nil || !r.OK() || r.Remaining() != 2 {
		t.Fatalf("OK %v, %d left, %v", r.OK(), r.Remaining(), err)
	}
	if err := r.Commit(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if d, _ := k.Peek(t.Context(), "ann"); d.Remaining() != 7 {
		t.Errorf("%d left, want 7", d.Remaining())
	}
	for _, key := range []string{"", string(make([]byte, 1025))} {
		if r, err := k.Reserve(t.Context(), key, 1); !errors.Is(err, sluice.ErrKey) || r != nil {
			t.Errorf("got %v, %v", r, err)
		}
	}
}

// TestCommitCanBeTriedAgain: a store that could not be reached has not settled.
func TestCommitCanBeTriedAgain(t *testing.T) {
	s := &flaky{}
	k := sluice.NewKeyed(sluice.PerHour(10), sluice.WithStore(s))
	r, err := k.Reserve(t.Context(), "ann", 10)
	if err != nil {
		t.Fatal(err)
	}
	s.fail(store.Commit)
	if err := r.Commit(t.Context(), 4); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	s.fail()
	if err := r.Commit(t.Context(), 4); err != nil {
		t.Errorf("got %v", err)
	}
	if d, _ := k.Peek(t.Context(), "ann"); d.Remaining() != 6 {
		t.Errorf("%d left, want 6", d.Remaining())
	}
}
