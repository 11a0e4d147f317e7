package split_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
	"github.com/sluice-limiter/sluice/store/storetest"
)

// TestConformance: alone, an instance has all of it.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(_ testing.TB, now func() time.Time) store.Store {
		return split.New(memstore.New(memstore.WithClock(now)), split.Fixed{Live: 1}, split.WithClock(now))
	}, storetest.Steps(algotest.Rounds(300, 100_000)))
}

// world is a fleet with one clock.
type world struct {
	t      testing.TB
	now    time.Time
	log    bytes.Buffer
	stores []*split.Store
	shares []*split.Fixed
}

func newWorld(t testing.TB, live int) *world {
	w := &world{t: t, now: time.Unix(1_700_000_000, 0)}
	for rank := range live {
		w.start(&split.Fixed{Rank: rank, Live: live})
	}
	return w
}

// start adds an instance.
func (w *world) start(share *split.Fixed) {
	clock := func() time.Time { return w.now }
	local := memstore.New(memstore.WithClock(clock))
	logger := slog.New(slog.NewTextHandler(&w.log, nil))
	w.shares = append(w.shares, share)
	w.stores = append(w.stores, split.New(local, share, split.WithClock(clock), split.WithLogger(logger)))
}

// take spends at one instance and returns the check with its answer.
func (w *world) take(i int, op store.Op, c store.Check) store.Check {
	w.t.Helper()
	checks := []store.Check{c}
	if err := w.stores[i].Take(context.Background(), op, checks); err != nil {
		w.t.Fatal(err)
	}
	if checks[0].Spec != c.Spec {
		w.t.Fatal("the caller's limit was replaced")
	}
	return checks[0]
}

// drain takes one at a time from every instance until all deny.
func (w *world) drain(spec *algo.Spec) (admitted int64) {
	for i := range w.stores {
		for w.take(i, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 1}).Verdict.Allowed {
			admitted++
		}
	}
	return admitted
}

func compile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	spec, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

const second = 1_000_000

// TestEveryWindowIsFull: whatever the remainder, all instances together admit the
// limit in every window, no more and no less.
func TestEveryWindowIsFull(t *testing.T) {
	for _, live := range []int{1, 2, 3, 7, 10} {
		w := newWorld(t, live)
		spec := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: second})
		for k := range 20 {
			if got := w.drain(spec); got != 7 {
				t.Errorf("%d instances admit %d in window %d", live, got, k)
			}
			w.now = w.now.Add(time.Second)
		}
	}
}

// TestBucket: rates and bursts add up, and the caller reads what is left here.
func TestBucket(t *testing.T) {
	w := newWorld(t, 4)
	spec := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: second, Burst: 40})
	c := w.take(0, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 4})
	if got := spec.Remaining(c.Verdict); got != 6 {
		t.Errorf("%d remain, want 6", got)
	}
	if got := w.drain(spec); got != 36 {
		t.Errorf("%d admitted, want 36", got)
	}
	c = w.take(0, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 1})
	if got := spec.RetryAfter(c.Verdict); got != 40_000 {
		t.Errorf("retry after %d µs, want 40 ms", got)
	}
	w.now = w.now.Add(time.Second / 10)
	if got := w.drain(spec); got != 8 { // 2.5 each
		t.Errorf("%d admitted after 100 ms, want 8", got)
	}
	if c = w.take(0, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 11}); !c.Verdict.Never {
		t.Errorf("more than the share: %+v", c.Verdict)
	}
}

// TestNumberChanges: what was spent stays spent, and no share starts afresh.
func TestNumberChanges(t *testing.T) {
	w := newWorld(t, 2)
	bucket := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: second, Burst: 100})
	window := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 100, Period: 60 * second})
	if got := w.drain(bucket) + w.drain(window); got != 200 {
		t.Fatalf("%d admitted", got)
	}
	for _, live := range []int{4, 3, 2} {
		w.shares[0].Live, w.shares[1].Live = live, live
		if got := w.drain(bucket) + w.drain(window); got != 0 {
			t.Errorf("%d of %d instances admit %d more", 2, live, got)
		}
		c := w.take(0, store.Spend, store.Check{Key: fmt.Sprint("new ", live), Spec: bucket})
		if got := bucket.Remaining(c.Verdict); got != int64(100/live) {
			t.Errorf("one of %d has %d, want %d", live, got, 100/live)
		}
	}
	w.shares[0].Live, w.shares[1].Live = 1, 1
	if got := w.drain(window); got != 100 {
		t.Errorf("alone: %d more, want 50 each", got)
	}
}

// TestNoTurn: an instance without a share in this window says when it has one, and
// then does; with other limits beside it nothing is spent.
func TestNoTurn(t *testing.T) {
	w := newWorld(t, 5)
	window := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 2, Period: second})
	bucket := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: second, Burst: 5})
	waited := 0
	for i := range w.stores {
		checks := []store.Check{{Key: "ann", Spec: bucket, Cost: 1}, {Key: "ann", Spec: window, Cost: 1}}
		if err := w.stores[i].Take(t.Context(), store.Spend, checks); err != nil {
			t.Fatal(err)
		}
		retry := window.RetryAfter(checks[1].Verdict)
		if retry == 0 {
			continue
		}
		waited++
		if checks[1].Verdict.Never || window.Remaining(checks[1].Verdict) != 0 || !checks[0].Verdict.Allowed {
			t.Errorf("rank %d: %+v", i, checks)
		}
		for _, ask := range []struct {
			at      int64
			allowed bool
		}{{retry - 1, false}, {retry, true}} {
			begin := w.now
			w.now = begin.Add(time.Duration(ask.at) * time.Microsecond)
			c := w.take(i, store.Spend, store.Check{Key: "bob", Spec: window, Cost: 1})
			if w.now = begin; c.Verdict.Allowed != ask.allowed {
				t.Errorf("rank %d after %d µs: %+v", i, ask.at, c.Verdict)
			}
		}
	}
	if waited != 3 {
		t.Errorf("%d instances have no turn, want 3", waited)
	}
	if n := strings.Count(w.log.String(), "smaller than the number"); n != 5 {
		t.Errorf("%d warnings of 5 instances:\n%s", n, &w.log)
	}
}

// TestReservation: an estimate is settled in the share that it was taken from.
func TestReservation(t *testing.T) {
	w := newWorld(t, 2)
	spec := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: second, Burst: 10})
	c := store.Check{Key: "ann", Spec: spec, Cost: 5, ID: "1", Hold: second}
	if got := w.take(0, store.Reserve, c); !got.Verdict.Allowed || spec.Remaining(got.Verdict) != 0 {
		t.Errorf("reserved: %+v", got.Verdict)
	}
	c.Cost = 2
	if got := w.take(0, store.Commit, c); !got.Verdict.Allowed {
		t.Error("not settled")
	}
	if got := w.take(0, store.Spend, store.Check{Key: "ann", Spec: spec}); spec.Remaining(got.Verdict) != 3 {
		t.Errorf("%d remain, want 3", spec.Remaining(got.Verdict))
	}
}

// TestPermits: every instance has its own, and what expires is free again.
func TestPermits(t *testing.T) {
	w := newWorld(t, 2)
	spec := compile(t, algo.Spec{Kind: algo.Concurrency, Count: 3})
	check := func(id string) store.Check {
		return store.Check{Key: "db", Spec: spec, Cost: 1, ID: id, Hold: second}
	}
	var got []bool
	for _, i := range []int{0, 0, 1, 1, 1} {
		got = append(got, w.take(i, store.Acquire, check(string(rune('a'+len(got))))).Verdict.Allowed)
	}
	if want := []bool{true, false, true, true, false}; !equal(got, want) {
		t.Errorf("acquired %v, want %v", got, want)
	}
	w.now = w.now.Add(time.Second / 2)
	if !w.take(1, store.Renew, check("c")).Verdict.Allowed || w.take(1, store.Renew, check("e")).Verdict.Allowed {
		t.Error("renewed by the wrong one")
	}
	w.now = w.now.Add(time.Second / 2)
	if w.take(1, store.Release, check("d")).Verdict.Allowed || !w.take(1, store.Release, check("c")).Verdict.Allowed {
		t.Error("released by the wrong one")
	}
	if !w.take(0, store.Acquire, check("b")).Verdict.Allowed {
		t.Error("a permit that expired is still held")
	}
}

func equal(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}
