package sluice_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
)

func TestWaitWithADeadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range []string{"10/s", "fixed_window 10/s", "0/s"} {
		l, _ := limiter(text)
		k, _ := keyed(text)
		if err := l.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", text, err)
		}
		if err := k.Wait(ctx, "ann"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", text, err)
		}
		if d, err := k.Peek(context.Background(), "ann"); err != nil || text != "0/s" && (l.Tokens() != 10 || d.Remaining() != 10) {
			t.Errorf("%s: something was spent", text)
		}
	}
}

func TestWaitForBadCosts(t *testing.T) {
	ctx := context.Background()
	for _, text := range algorithms {
		l, _ := limiter(text)
		k, _ := keyed(text)
		for _, n := range []int{-1, math.MinInt} {
			if err := l.WaitN(ctx, n); !errors.Is(err, sluice.ErrCost) {
				t.Errorf("%s: %d: got %v", text, n, err)
			}
			if err := k.WaitN(ctx, "ann", int64(n)); !errors.Is(err, sluice.ErrCost) {
				t.Errorf("%s: %d: got %v", text, n, err)
			}
		}
		if err := k.WaitN(ctx, "ann", math.MaxInt64); !errors.Is(err, sluice.ErrCost) {
			t.Errorf("%s: got %v", text, err)
		}
		if err := k.Wait(ctx, ""); !errors.Is(err, sluice.ErrKey) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestWaitForWhatNeverComes: even with a queue before it the answer comes at once.
func TestWaitForWhatNeverComes(t *testing.T) {
	for _, text := range []string{"10/s", "leaky_bucket 10/s", "fixed_window 10/s", "sliding_window 10/s", "sliding_log 10/s"} {
		synctest.Test(t, func(t *testing.T) {
			l := sluice.NewLimiter(sluice.MustParse(text))
			k := sluice.NewKeyed(sluice.MustParse(text))
			line := newLine()
			for _, name := range strings.Split("abc", "") {
				line.wait(name, func() error { return l.WaitN(t.Context(), 10) })
				line.wait(name+"k", func() error { return k.WaitN(t.Context(), "ann", 10) })
			}
			begin := time.Now()
			for _, err := range []error{l.WaitN(t.Context(), 12), k.WaitN(t.Context(), "ann", 12)} {
				var limited *sluice.LimitedError
				if !errors.As(err, &limited) || limited.Decision.Reason != sluice.Never || time.Since(begin) != 0 {
					t.Errorf("%s: got %v after %v", text, err, time.Since(begin))
				}
				if !strings.Contains(err.Error(), "can never admit") {
					t.Errorf("%s: got %v", text, err)
				}
			}
			time.Sleep(time.Minute)
		})
	}
}

// meddler is a context that does something when it is first asked.
type meddler struct {
	context.Context
	do func()
}

func (m *meddler) Err() error {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Context.Err()
}

// TestWaitWhileTheAlgorithmChanges: a limit that books turns into one that does
// not between the look at it and the decision.
func TestWaitWhileTheAlgorithmChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.PerSecond(1))
		begin := time.Now()
		ctx := &meddler{t.Context(), func() {
			if err := l.SetLimit(sluice.MustParse("sliding_log 1/s")); err != nil {
				t.Error(err)
			}
			l.Allow()
		}}
		if err := l.Wait(ctx); err != nil || time.Since(begin) != second {
			t.Errorf("got %v after %v, want nothing after 1s", err, time.Since(begin))
		}
	})
}

// TestSmallerLimitBindsWhoWaits: who waits for a window gets the limit of the
// moment, not that of the time when it came.
func TestSmallerLimitBindsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.MustParse("fixed_window 10/s"))
		k := sluice.NewKeyed(sluice.MustParse("fixed_window 10/s"))
		l.Decide(10)
		k.AllowN(t.Context(), "ann", 10)
		line := newLine()
		line.wait("a", func() error { return l.WaitN(t.Context(), 8) })
		line.wait("b", func() error { return k.WaitN(t.Context(), "ann", 8) })
		small := sluice.MustParse("fixed_window 5/s")
		if err := errors.Join(l.SetLimit(small), k.SetLimit(small)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * second)
		for _, name := range []string{"a", "b"} {
			var limited *sluice.LimitedError
			if err := line.err(name); !errors.As(err, &limited) || limited.Decision.Reason != sluice.Never {
				t.Errorf("%s: got %v, want a refusal", name, err)
			}
		}
	})
}

func TestLimitedErrorText(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	long := strings.Repeat("k", 1000)
	k, _ := keyed("1/h")
	k.Allow(ctx, long)
	err := k.Wait(ctx, long)
	if !errors.Is(err, sluice.ErrLimited) || !strings.Contains(err.Error(), "1/h: retry after") || len(err.Error()) > 200 {
		t.Errorf("got %v", err)
	}
}

// TestMaxWait: nobody waits longer than the limit says, whatever the context.
func TestMaxWait(t *testing.T) {
	l, _ := limiter("leaky_bucket 1/s burst=100 max_wait=2s")
	for i, want := range []time.Duration{0, second, 2 * second} {
		if r := l.Reserve(); !r.OK() || r.Delay() != want {
			t.Errorf("%d: %v after %v, want %v", i, r.OK(), r.Delay(), want)
		}
	}
	if r := l.Reserve(); r.OK() || r.RetryAfter() != second {
		t.Errorf("the fourth: OK %v, retry after %v", r.OK(), r.RetryAfter())
	}
	if err := l.Wait(context.Background()); !errors.Is(err, sluice.ErrLimited) {
		t.Errorf("got %v", err)
	}
}
