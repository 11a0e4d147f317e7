package memstore

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// tailed are limits whose states have tails, of n per hour as far as they count.
func tailed(t testing.TB, n int64) []*algo.Spec {
	return []*algo.Spec{
		compile(t, algo.Spec{Kind: algo.SlidingWindow, Count: n, Period: hour, Sub: 10}),
		compile(t, algo.Spec{Kind: algo.SlidingWindow, Count: n, Period: hour, Sub: 3}), // fills a short tail
		compile(t, algo.Spec{Kind: algo.WarmUp, Count: n, Period: hour, Warm: hour, Cold: 3}),
		logOf(t, n),
	}
}

// TestTailFillsItsLines: a slot and its tail are one cache line or two, and none of their
// neighbour's.
func TestTailFillsItsLines(t *testing.T) {
	for step, unit := range map[uint]uint64{half: near, wide: near | ample} {
		page := newSlots(step)
		tail := page.at(step).tail(unit)
		if size := uintptr(step) * unsafe.Sizeof(slot{}); size != unsafe.Sizeof(slot{})+8*uintptr(len(tail)) || size%64 != 0 {
			t.Errorf("step %d: a slot and its tail take %d bytes", step, size)
		}
		if uintptr(unsafe.Pointer(page))%64 != 0 || &tail[0] != (*int64)(unsafe.Pointer(page.at(step+1))) {
			t.Errorf("step %d: the tail is not behind its slot", step)
		}
	}
}

// TestTailsMoveWithTheirKeys: while pages split, every key keeps its state.
func TestTailsMoveWithTheirKeys(t *testing.T) {
	const keys = 2000
	for _, p := range tailed(t, 100) {
		w := newWorld(t)
		states := make([]algo.State, keys)
		for round := range 4 {
			for i := range states {
				w.at.Add(1)
				cost := int64(1 + (i+round)%3)
				want := algo.Decide(p, &states[i], w.at.Load(), cost, 0)
				c := w.take(store.Spend, store.Check{Key: fmt.Sprint("k", i), Spec: p, Cost: cost})
				if got := c[0].Verdict; got != want {
					t.Fatalf("kind %d, key %d, round %d: %+v, want %+v", p.Kind, i, round, got, want)
				}
			}
		}
		for _, tb := range w.tables() {
			if got := tb.bytes.Load(); tb == w.tableOf(p) && got < 2*shards*pageBytes(tb.step) || tb != w.tableOf(p) && got != 0 {
				t.Errorf("kind %d: %d bytes of pages with step %d", p.Kind, got, tb.step)
			}
		}
		w.checkFigures()
	}
}

// TestLogOutgrowsItsTail: the state is the same before and after. It keeps its rest, also
// when it is short again, and starts in the tail again once it was forgotten.
func TestLogOutgrowsItsTail(t *testing.T) {
	w, p := newWorld(t), logOf(t, 40)
	var st algo.State
	for i := range 50 {
		w.at.Add(7)
		want := algo.Decide(p, &st, w.at.Load(), 1, 0)
		if got := w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: 1})[0].Verdict; got != want {
			t.Fatalf("entry %d: %+v, want %+v", i, got, want)
		}
		sl := w.slotOf("k", p)
		if got, want := sl.unitOf()&(near|far), near; i < 5 && got != want {
			t.Errorf("entry %d is not in the tail", i)
		}
		if got := sl.unitOf() & (near | far); i >= 5 && got != far {
			t.Errorf("entry %d is in the tail", i)
		}
	}
	w.at.Add(2 * hour)
	if w.spend("k", p, 1); w.slotOf("k", p).unitOf()&far == 0 {
		t.Error("a short log lost its rest")
	}
	w.checkFigures()
	w.take(store.Reset, store.Check{Key: "k", Spec: p})
	if w.spend("k", p, 1); w.slotOf("k", p).unitOf()&near == 0 {
		t.Error("a new log is not in the tail")
	}
}

// TestSlotsRememberBothEnds: the slot of a log that outgrew its tail tells where the log
// begins and ends, also after it was moved.
func TestSlotsRememberBothEnds(t *testing.T) {
	w, p := newWorld(t), logOf(t, 40)
	for i := range 20 {
		w.spend("k", p, 1)
		for j := range 200 { // pages split
			w.spend(fmt.Sprint("other ", i, j), p, 1)
		}
		sl := w.slotOf("k", p)
		if sl.unitOf()&far == 0 {
			continue
		}
		more := w.rests.at(sl.unitOf()).more
		begin, end := uintptr(unsafe.Pointer(&more[0])), uintptr(unsafe.Pointer(&more[len(more)-2]))
		if tail := sl.tail(ample); sl.unitOf()&ample == 0 || uintptr(tail[0]) != begin || uintptr(tail[1]) != end {
			t.Fatalf("after %d entries, %x remembered, it lies from %x to %x", i+1, tail[:2], begin, end)
		}
	}
	if sl := w.slotOf("k", p); sl.unitOf()&far == 0 {
		t.Error("a log of 20 entries is in the tail")
	}
}

// TestTailWithoutASum: a state whose sum became zero is read back as it was written.
func TestTailWithoutASum(t *testing.T) {
	for _, p := range tailed(t, 100) {
		w := newWorld(t)
		w.spend("k", p, 3)
		before := w.left("k", p)
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 3})
		if unit := w.slotOf("k", p).unitOf(); unit&bare == 0 {
			t.Errorf("kind %d: unit %x", p.Kind, unit)
		}
		if w.spend("k", p, 3); w.left("k", p) != before {
			t.Errorf("kind %d: %d remain, want %d", p.Kind, w.left("k", p), before)
		}
	}
}

// TestEachTableHasItsShare: whoever fills the cap first leaves some room for the keys of
// the other table, and for what stands beside both.
func TestEachTableHasItsShare(t *testing.T) {
	const most = 1 << 20
	word, window := perHour(t, 10), tailed(t, 10)[0]
	for _, c := range []struct {
		name        string
		first, then *algo.Spec
		many, least int
	}{
		{"words first", word, window, 25_000, 200},
		{"windows first", window, word, 9000, 500},
	} {
		w := newWorld(t, MaxBytes(most))
		for i := range c.many {
			w.one(fmt.Sprint("first ", i), c.first, 1, 0)
		}
		keep := 0
		for i := range c.least {
			w.one(fmt.Sprint("then ", i), c.then, 1, 0)
		}
		for i := range c.least {
			if w.left(fmt.Sprint("then ", i), c.then) == 9 {
				keep++
			}
		}
		if keep != c.least {
			t.Errorf("%s: %d of %d that came later are known", c.name, keep, c.least)
		}
		log := logOf(t, 400)
		for range 300 {
			w.spend("log", log, 1)
		}
		if got := w.left("log", log); got != 100 {
			t.Errorf("%s: %d are left to a log, want 100", c.name, got)
		}
		if got := w.Stats().Bytes; got > most {
			t.Errorf("%s: %d bytes, the cap is %d", c.name, got, most)
		}
		w.checkFigures()
	}
}

// TestTablesBeginWithinTheCap: what stands beside the tables leaves room for the first
// pages of all, which nobody denies them, even if it is there before them.
func TestTablesBeginWithinTheCap(t *testing.T) {
	const most = 1 << 20
	word, log := perHour(t, 10), logOf(t, 40)
	flight := compile(t, algo.Spec{Kind: algo.Concurrency, Count: 10})
	for _, c := range []struct {
		name  string
		many  int
		first func(w *world, key string)
	}{
		{"permits", 6600, func(w *world, key string) {
			_ = w.Take(t.Context(), store.Acquire, []store.Check{{Key: key, Spec: flight, Cost: 1, ID: "me", Hold: hour}})
		}},
		{"long logs", 1500, func(w *world, key string) {
			for range 40 {
				w.spend(key, log, 1)
			}
		}},
	} {
		w := newWorld(t, MaxBytes(most))
		for i := range c.many {
			c.first(w, fmt.Sprint("first ", i))
		}
		if got := w.Stats().Bytes; got < most*2/3 {
			t.Fatalf("%s: %d bytes, far from the cap", c.name, got)
		}
		for _, then := range append(tailed(t, 10), word) {
			for i := range 1000 {
				w.one(fmt.Sprint("then ", i), then, 1, 0)
			}
			if got := w.Stats().Bytes; got > most {
				t.Errorf("%s, then kind %d: %d bytes, the cap is %d", c.name, then.Kind, got, most)
			}
		}
	}
}
