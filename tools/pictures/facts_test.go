package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestMemoryInDocument checks the bytes per key that the document states.
func TestMemoryInDocument(t *testing.T) {
	const keys = 4_000
	for _, c := range []struct {
		limit  string
		bytes  float64
		asking int
	}{
		{"token_bucket 10/m", 55, 1},
		{"token_bucket 10/m refill=interval", 55, 1},
		{"leaky_bucket 10/m", 55, 1},
		{"fixed_window 10/m", 55, 1},
		{"sliding_window 10/m weighted", 55, 1},
		{"sliding_window 10/m sub_windows=3", 100, 1},
		{"sliding_window 10/m sub_windows=10", 200, 1},
		{"sliding_window 100/m sub_windows=60", 200 + 49*8, 1},
		{"sliding_log 100/m", 300 + 100*24, 100},
		{"warm_up 10/s warm_up=10s", 100, 1},
	} {
		now := origin
		s := memstore.New(memstore.WithClock(func() time.Time { return now }), memstore.MaxBytes(1<<30))
		k := sluice.NewKeyed(sluice.MustParse(c.limit), sluice.WithStore(s))
		for i := range keys {
			for range c.asking {
				if _, err := k.Allow(context.Background(), fmt.Sprint("user-", i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		st := s.Stats()
		got := float64(st.Bytes) / float64(st.Keys)
		t.Logf("%s: %.0f bytes per key", c.limit, got)
		if st.Keys != keys || got < 0.66*c.bytes || got > 1.34*c.bytes {
			t.Errorf("%s: %.0f bytes per key, the document says about %.0f", c.limit, got, c.bytes)
		}
	}
}

// TestWordInDocument: the reduced counts up to which a bucket is one word.
func TestWordInDocument(t *testing.T) {
	for count, want := range map[int64]bool{100: true, 1_000_000: true, 5_987: true, 6_211: false, 20_000: true} {
		spec, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: count, Period: 1e6, Burst: count})
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.WordUnit() != 0; got != want {
			t.Errorf("%d per second: one word %v, the document says %v", count, got, want)
		}
	}
}

// TestLostFraction: asked once a second, 10/m goes on admitting one every six
// seconds, where a bucket that rounds down and forgets would admit none.
func TestLostFraction(t *testing.T) {
	out := play("token_bucket 10/m burst=1", evenly(0, 601, time.Second), false)
	if got := admitted(out); got != 101 {
		t.Errorf("%d in ten minutes, want 101", got)
	}
	tokens, last, naive := 0.0, 0, 0
	for now := range 601 {
		tokens = min(1, tokens+float64((now-last)*10/60))
		if last = now; tokens >= 1 {
			tokens--
			naive++
		}
	}
	if naive != 0 {
		t.Errorf("the naive bucket admits %d", naive)
	}
}

// TestChangeInDocument: what a changed limit makes of what was spent.
func TestChangeInDocument(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          int64
	}{
		{"fixed_window 10/m", "fixed_window 20/m", 12},
		{"fixed_window 10/m", "fixed_window 5/m", 0},
		{"sliding_window 10/m", "sliding_window 20/m", 12},
		{"sliding_log 10/m", "sliding_log 20/m", 12},
		{"token_bucket 10/m", "token_bucket 20/m", 4},       // 48 s from full, before and after
		{"token_bucket 10/m", "token_bucket 600/h", 600},    // another period starts fresh
		{"token_bucket 10/m", "sliding_window 10/m", 10},    // another algorithm, too
		{"token_bucket 100/m", "token_bucket 10/m", 9},      // 8 of 100 take 4.8 s, at most one of 10
		{"leaky_bucket 10/m", "leaky_bucket 20/m", 21 - 16}, // the next free departure stays
	} {
		w := newWorld(c.before)
		for range 8 {
			w.limiter.Reserve()
		}
		if err := w.limiter.SetLimit(sluice.MustParse(c.after)); err != nil {
			t.Fatal(err)
		}
		if got := w.limiter.Peek().Remaining(); got != c.want {
			t.Errorf("%s, 8 spent, then %s: %d remaining, want %d", c.before, c.after, got, c.want)
		}
	}
}

// TestClockBackInDocument: a step back grants nothing, and nobody is blocked for
// longer than the limit can block.
func TestClockBackInDocument(t *testing.T) {
	for _, c := range []struct {
		limit   string
		longest time.Duration
	}{
		{"fixed_window 10/s", time.Second},
		{"sliding_window 10/s", time.Second},
		{"sliding_window 10/s weighted", 2 * time.Second},
		{"sliding_log 10/s", time.Second},
		{"token_bucket 10/s", time.Second},
		{"token_bucket 10/s refill=interval", time.Second},
		{"leaky_bucket 10/s burst=9 max_wait=1ms", time.Second},
		{"warm_up 10/s warm_up=1s", 300 * ms},
	} {
		w := newWorld(c.limit)
		w.now = 24 * time.Hour
		for w.limiter.Allow() { //nolint:revive // spends all there is
		}
		w.now = 0
		d := w.limiter.Decide(1)
		if d.Allowed || d.RetryAfter() > c.longest {
			t.Errorf("%s, a day back: allowed %v, retry after %v", c.limit, d.Allowed, d.RetryAfter())
		}
	}
}
