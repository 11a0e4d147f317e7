package memstore

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// newSlowWorld returns a world that can be overtaken: what is passed to overtake happens
// right after the next look at the clock.
func newSlowWorld(t testing.TB, at int64) (w *world, overtake func(by func())) {
	w = &world{TB: t}
	w.at.Store(at)
	var next func()
	w.Store = New(WithClock(func() time.Time {
		now, by := w.now(), next
		if next = nil; by != nil {
			by()
		}
		return now
	}))
	return w, func(by func()) { next = by }
}

// TestOvertakenReadsTheClockAgain: somebody reads the clock, then another is faster and
// writes the key's state at a later instant, in the next window. The first decides by
// an instant that is not before that.
func TestOvertakenReadsTheClockAgain(t *testing.T) {
	const before, after = -3, 4 // µs, from a full hour on
	specs := append(tailed(t, 5), everyKind(t, 5)...)
	for _, p := range specs {
		if !p.Dated() {
			continue
		}
		w, overtake := newSlowWorld(t, start+before)
		overtake(func() {
			w.at.Store(start + after)
			w.spend("k", p, 1)
		})
		got := w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: 1})[0].Verdict
		var st algo.State
		algo.Decide(p, &st, start+after, 1, 0)
		if want := algo.Decide(p, &st, start+after, 1, 0); got != want {
			t.Errorf("kind %d: %+v, want %+v", p.Kind, got, want)
		}
		left := w.take(store.Spend, store.Check{Key: "k", Spec: p})[0].Verdict
		if want := algo.Check(p, &st, start+after, 0, 0); left != want {
			t.Errorf("kind %d: then %+v, want %+v", p.Kind, left, want)
		}
	}
}

// TestOvertakenByAKeyThatIsAdded: a call over several keys has given the key a slot, which
// nobody has spent from yet, a little later than we read the clock. What we spend counts
// in the window that we are in.
func TestOvertakenByAKeyThatIsAdded(t *testing.T) {
	one := compile(t, algo.Spec{Kind: algo.SlidingWindow, Count: 5, Period: hour, Sub: 1})
	for _, p := range append(tailed(t, 5), append(everyKind(t, 5), one)...) {
		if !p.Dated() {
			continue
		}
		w, overtake := newSlowWorld(t, start+second)
		overtake(func() {
			w.at.Add(3)
			a := addition{table: w.tableOf(p), key: w.hash.key("k", p.Shape()), now: w.at.Load() - w.epoch}
			a.word = freshWord(a.unit, a.now)
			w.add(a)
		})
		var st algo.State
		want := algo.Decide(p, &st, w.at.Load(), 1, 0)
		if got := w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: 1})[0].Verdict; got != want {
			t.Errorf("kind %d: %+v, want %+v", p.Kind, got, want)
		}
		w.at.Add(3)
		left := w.take(store.Spend, store.Check{Key: "k", Spec: p})[0].Verdict
		if want := algo.Check(p, &st, w.at.Load(), 0, 0); left != want {
			t.Errorf("kind %d: then %+v, want %+v", p.Kind, left, want)
		}
	}
}

// TestOvertakenWhileTheOldWindowFades: of a weighted window more is free with every µs.
// Who was overtaken within one is not denied by an instant at which less was, when what
// others took later is counted.
func TestOvertakenWhileTheOldWindowFades(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.WeightedWindow, Count: 4, Period: hour})
	w, overtake := newSlowWorld(t, start)
	w.spend("k", p, 4)
	w.at.Store(start + hour + hour/4 + 1) // one is free
	overtake(func() {
		w.at.Store(start + hour + hour/2) // and now two
		w.spend("k", p, 1)
	})
	if !w.spend("k", p, 1) {
		t.Error("two are free, and the second of two is denied")
	}
	if w.spend("k", p, 1) {
		t.Error("a third is allowed")
	}
}
