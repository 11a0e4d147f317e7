package memstore

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestLinesGoWithTheLast: a state has a line while it has reservations, however
// they end, and only if its spends have a place in time.
func TestLinesGoWithTheLast(t *testing.T) {
	bucket := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: second, Burst: 100})
	window := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 100, Period: second})
	w := newWorld(t)
	reserve := func(p *algo.Spec, id string) {
		w.take(store.Reserve, store.Check{Key: "k", Spec: p, Cost: 1, ID: id, Hold: second})
	}
	lines := func(want int) {
		t.Helper()
		if got := len(w.open.lines); got != want {
			t.Errorf("%d lines, want %d", got, want)
		}
	}
	reserve(window, "w")
	lines(0)
	reserve(bucket, "a")
	reserve(bucket, "b")
	lines(1)
	w.take(store.Commit, store.Check{Key: "k", Spec: bucket, ID: "a"})
	lines(1)
	w.take(store.Commit, store.Check{Key: "k", Spec: bucket, ID: "b"})
	lines(0)
	reserve(bucket, "c")
	w.take(store.Reset, store.Check{Key: "k", Spec: bucket})
	lines(0)
	for i := range 5 {
		w.take(store.Reserve, store.Check{Key: fmt.Sprint("k", i), Spec: bucket, Cost: 1, ID: "d", Hold: second})
	}
	lines(5)
	w.at.Add(second)
	for range 20 {
		reserve(window, "w")
	}
	lines(0)
	w.checkFigures()
}

// TestCellMovesBookings: as in a store, what is given back moves the bookings behind
// it, so that nothing is given back twice.
func TestCellMovesBookings(t *testing.T) {
	for _, kind := range []algo.Kind{algo.TokenBucket, algo.IntervalBucket} {
		c, at := newCell(compile(t, algo.Spec{Kind: kind, Count: 1, Period: second, Burst: 20}))
		x, y := c.Book(nil, 10, 0), c.Book(nil, 10, 0)
		c.Settle(x, 10, false)
		at.Add(10 * second)
		c.Take(10, 0)
		c.Settle(y, 10, false)
		if left := c.left(); left != 10 {
			t.Errorf("kind %d: %d left, want 10", kind, left)
		}
		z := c.Book(nil, 10, 0)
		c.Refund(10)
		c.Take(10, 0)
		at.Add(10 * second)
		c.Settle(z, 10, false)
		if left := c.left(); left != 10 {
			t.Errorf("kind %d: %d left after a refund, want 10", kind, left)
		}
	}
}
