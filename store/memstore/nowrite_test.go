package memstore

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// image is all that a slot holds.
type image struct {
	hi, lo, word, unit uint64
	f, g               int64
	more               string
}

func (w *world) image(name string, p *algo.Spec) image {
	sl, _ := w.tableOf(p).find(w.hash.key(name, p.Shape()))
	if sl == nil {
		return image{}
	}
	im := image{hi: sl.hi.Load(), lo: sl.lo.Load(), word: sl.word.Load(), unit: sl.unit.Load()}
	if im.unit&near != 0 {
		im.more = fmt.Sprint(sl.tail(im.unit))
	}
	if im.unit&far != 0 {
		x := w.rests.at(im.unit)
		im.f, im.g, im.more = x.f, x.g, fmt.Sprint(x.more)
	}
	return im
}

// TestDenialAndPeekWriteNothing looks at the memory itself.
func TestDenialAndPeekWriteNothing(t *testing.T) {
	other := perHour(t, 1)
	for _, p := range everyKind(t, 10) {
		w := newWorld(t)
		w.spend("k", p, 7)
		w.spend("drained", other, 1)
		before, stats := w.image("k", p), w.Stats()
		w.spend("k", p, 0)
		w.spend("k", p, 4)
		w.spend("k", p, 11) // never
		w.all(store.Check{Key: "k", Spec: p, Cost: 0}, store.Check{Key: "new", Spec: p, Cost: 0})
		w.all(store.Check{Key: "k", Spec: p, Cost: 3}, store.Check{Key: "drained", Spec: other, Cost: 1})
		w.all(store.Check{Key: "k", Spec: p, Cost: 2}, store.Check{Key: "k", Spec: p, Cost: 2})
		if after := w.image("k", p); after != before {
			t.Errorf("kind %d: %+v became %+v", p.Kind, before, after)
		}
		if after := w.Stats(); after != stats {
			t.Errorf("kind %d: %+v became %+v", p.Kind, stats, after)
		}
	}
}

// TestUnknownKeysStayUnknown: whatever spends nothing adds no key, also where the
// slot of a key that was reset is still to be seen.
func TestUnknownKeysStayUnknown(t *testing.T) {
	for _, p := range everyKind(t, 10) {
		for _, reset := range []bool{false, true} {
			w := newWorld(t)
			if reset {
				w.spend("k", p, 1)
				w.take(store.Reset, store.Check{Key: "k", Spec: p})
			}
			c := store.Check{Key: "k", Spec: p}
			never := store.Check{Key: "k", Spec: p, Cost: 11, ID: "id", Hold: second}
			for _, v := range []algo.Verdict{
				w.one("k", p, 0, 0), w.take(store.Spend, c, c)[1].Verdict,
			} {
				if !v.Allowed || p.Remaining(v) != 10 {
					t.Errorf("kind %d: peek gets %+v", p.Kind, v)
				}
			}
			if w.one("k", p, 11, 0).Allowed {
				t.Errorf("kind %d: 11 of 10 admitted", p.Kind)
			}
			w.take(store.Refund, c, c)
			w.take(store.Cancel, c)
			w.take(store.Commit, never)
			if got := w.Stats(); got.Keys != 0 || got.Reservations != 0 {
				t.Errorf("kind %d, reset %v: %+v", p.Kind, reset, got)
			}
		}
	}
}

// TestStatelessLimits: ban and unlimited need no key at all.
func TestStatelessLimits(t *testing.T) {
	w := newWorld(t)
	ban, free := compile(t, algo.Spec{Kind: algo.Ban}), compile(t, algo.Spec{Kind: algo.Unlimited})
	if w.spend("k", ban, 1) || !w.spend("k", free, 5) {
		t.Error("ban allows or unlimited denies")
	}
	if w.all(store.Check{Key: "k", Spec: free, Cost: 1}, store.Check{Key: "k", Spec: ban, Cost: 1}) {
		t.Error("ban allows among others")
	}
	c := store.Check{Key: "k", Spec: free, Cost: 1, ID: "id", Hold: second}
	w.take(store.Reserve, c)
	c.Cost = 9
	if !w.take(store.Commit, c)[0].Verdict.Allowed {
		t.Error("a reservation of unlimited is gone")
	}
	if got := w.Stats(); got != (Stats{}) {
		t.Errorf("stats %+v", got)
	}
}

// TestDeniedTogetherIsAsNew: a key that was added for a call that was denied is
// as if it had never been: the clock may go back behind it.
func TestDeniedTogetherIsAsNew(t *testing.T) {
	drained := perHour(t, 1)
	for _, p := range everyKind(t, 10) {
		w := newWorld(t)
		w.spend("drained", drained, 1)
		if w.all(store.Check{Key: "k", Spec: p, Cost: 1}, store.Check{Key: "drained", Spec: drained, Cost: 1}) {
			t.Fatal("a drained bucket allows")
		}
		w.at.Add(-hour / 2)
		if !w.spend("k", p, 10) {
			t.Errorf("kind %d: a new key does not have all", p.Kind)
		}
	}
}

// TestNoAllocation: deciding allocates nothing, for one check or several.
func TestNoAllocation(t *testing.T) {
	w := newWorld(t)
	p, q := perHour(t, 1e6), compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 1e6, Period: hour})
	one := []store.Check{{Key: "a", Spec: p, Cost: 1}}
	two := []store.Check{{Key: "a", Spec: p, Cost: 1}, {Key: "b", Spec: q, Cost: 1}}
	three := []store.Check{{Key: "a", Spec: p, Cost: 1}, {Key: "c", Spec: p, Cost: 1}, {Key: "d", Spec: p, Cost: 1e6, Shadow: true}}
	w.take(store.Spend, two...)
	w.take(store.Spend, three...)
	for name, f := range map[string]func(){
		"one":    func() { w.take(store.Spend, one...) },
		"window": func() { w.one("b", q, 1, 0) },
		"peek":   func() { w.one("nobody", q, 0, 0) },
		"denied": func() { w.one("a", p, 1e6, 0) },
		"two":    func() { w.take(store.Spend, two...) },
		"three":  func() { w.take(store.Spend, three...) },
		"refund": func() { w.take(store.Refund, two...) },
	} {
		// The race detector lets pools forget now and then.
		if got := testing.AllocsPerRun(200, f); got > 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
