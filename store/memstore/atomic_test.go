package memstore

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// twins are two limits of n that are always changed together.
type twins struct {
	*world
	a, b store.Check
}

// both returns the checks with a cost, in either order.
func (w *twins) both(flip bool, cost int64) []store.Check {
	a, b := w.a, w.b
	a.Cost, b.Cost = cost, cost
	if flip {
		a, b = b, a
	}
	return []store.Check{a, b}
}

// observe peeks at both and reports a difference.
func (w *twins) observe(flip bool) {
	c := w.take(store.Spend, w.both(flip, 0)...)
	if x, y := c[0].Spec.Remaining(c[0].Verdict), c[1].Spec.Remaining(c[1].Verdict); x != y {
		w.Errorf("seen together, %d remain of one and %d of the other", x, y)
	}
}

// TestNobodySeesHalf: spends, refunds and resets of two limits, in both orders,
// while the table grows around them. Whoever looks at both sees them equal.
func TestNobodySeesHalf(t *testing.T) {
	kinds := everyKind(t, 1000)
	for i, p := range kinds {
		w := newWorld(t)
		q := kinds[(i+3)%len(kinds)]
		tw := &twins{w, store.Check{Key: "a", Spec: p}, store.Check{Key: "b", Spec: q}}
		rounds := soak(300, 20_000)
		crowd(6, func(worker int) {
			r := rand.New(rand.NewPCG(uint64(worker), uint64(i)))
			for n := range rounds {
				switch flip := r.IntN(2) == 0; {
				case worker < 2:
					tw.observe(flip)
				case worker == 2:
					w.one(fmt.Sprint("noise ", n), p, 1, 0)
					w.one(fmt.Sprint("noise ", n), q, 1, 0)
				case r.IntN(20) == 0:
					w.take(store.Reset, tw.both(flip, 0)...)
				case r.IntN(4) == 0:
					w.take(store.Refund, tw.both(flip, 1+r.Int64N(3))...)
				default:
					w.take(store.Spend, tw.both(flip, 1+r.Int64N(3))...)
				}
			}
		})
		tw.observe(false)
		if t.Failed() {
			t.Fatalf("with %d and %d", p.Kind, q.Kind)
		}
	}
}

// TestNobodySeesHalfOfNewKeys: the keys come and go while others look.
func TestNobodySeesHalfOfNewKeys(t *testing.T) {
	w, p := newWorld(t), perHour(t, 100)
	var serial atomic.Int64
	crowd(4, func(worker int) {
		for range soak(4000, 400_000) {
			n := serial.Load()
			tw := &twins{w, store.Check{Key: fmt.Sprint("a", n), Spec: p}, store.Check{Key: fmt.Sprint("b", n), Spec: p}}
			switch worker {
			case 0:
				w.take(store.Spend, tw.both(n%2 == 0, 1)...)
				serial.Add(1)
			case 1:
				w.take(store.Reset, tw.both(n%2 == 1, 0)...)
			default:
				tw.observe(worker == 2)
			}
		}
	})
}

// TestOverlappingSetsEnd: calls over overlapping sets of keys in all orders, some
// keys named twice, while the table splits. None waits for another forever, and
// nothing is lost or spent for a denial.
func TestOverlappingSetsEnd(t *testing.T) {
	for _, kinds := range [][]*algo.Spec{{perHour(t, 500)}, everyKind(t, 500)} {
		w := newWorld(t)
		const keys = 40
		spent := make([]atomic.Int64, keys)
		crowd(8, func(worker int) {
			r := rand.New(rand.NewPCG(uint64(worker), 3))
			for n := range soak(400, 50_000) {
				var checks []store.Check
				var which []int
				for range 1 + r.IntN(6) {
					i := r.IntN(keys)
					which = append(which, i)
					checks = append(checks, store.Check{Key: fmt.Sprint("k", i), Spec: kinds[i%len(kinds)], Cost: r.Int64N(8)})
				}
				if w.all(checks...) {
					for j, i := range which {
						spent[i].Add(checks[j].Cost)
					}
				}
				w.one(fmt.Sprint("noise ", worker, n), kinds[n%len(kinds)], 1, 0)
			}
		})
		for i := range spent {
			p := kinds[i%len(kinds)]
			if got, want := w.left(fmt.Sprint("k", i), p), 500-spent[i].Load(); got != want {
				t.Errorf("key %d of kind %d: %d remain, want %d", i, p.Kind, got, want)
			}
		}
	}
}

// TestSameKeyInOneCall: checks of one key share its state, one after the other.
func TestSameKeyInOneCall(t *testing.T) {
	for _, p := range everyKind(t, 10) {
		w := newWorld(t)
		c := store.Check{Key: "k", Spec: p, Cost: 4}
		if w.all(c, c, c) {
			t.Errorf("kind %d: 12 of 10 admitted", p.Kind)
		}
		if got := w.left("k", p); got != 10 {
			t.Errorf("kind %d: %d remain after a denial, want 10", p.Kind, got)
		}
		if !w.all(c, c) || w.left("k", p) != 2 {
			t.Errorf("kind %d: 8 of 10 leave %d", p.Kind, w.left("k", p))
		}
		w.take(store.Refund, c, c)
		if got := w.left("k", p); got != 10 {
			t.Errorf("kind %d: %d remain after two refunds of 4, want 10", p.Kind, got)
		}
	}
}

// TestHoldRefusesForeignSlot: a slot that changed hands is not waited for, even
// while its new key is held. That would be a circle: its holder may wait for us.
func TestHoldRefusesForeignSlot(t *testing.T) {
	w, p := newWorld(t), perHour(t, 10)
	w.spend("new", p, 1)
	sl := w.slotOf("new", p)
	before := sl.word.Load()
	if got, ok := sl.hold(w.hash.key("new", p.Shape())); !ok || got != before {
		t.Fatal("a free slot could not be held, or with another word")
	}
	if _, ok := sl.hold(w.hash.key("old", p.Shape())); ok {
		t.Error("another key's slot was held")
	}
	sl.release()
	if _, ok := sl.hold(w.hash.key("old", p.Shape())); ok || sl.word.Load() != before {
		t.Error("another key's slot was held or changed")
	}
}

// TestCallsWiderThanTheCap: a call over more keys than the cap has room for ends,
// and the store comes back to its cap.
func TestCallsWiderThanTheCap(t *testing.T) {
	specs := everyKind(t, 10)
	for _, n := range []int64{1, 2, 10} {
		w := newWorld(t, MaxKeys(n))
		var checks []store.Check
		for i := range 3 * n {
			checks = append(checks, store.Check{Key: fmt.Sprint("k", i), Spec: specs[i%8], Cost: 1})
		}
		for range 3 {
			if !w.all(checks...) {
				t.Errorf("cap %d: the first calls are denied", n)
			}
		}
		if got := w.Stats().Keys; got != 3*n {
			t.Errorf("cap %d: %d keys, want %d", n, got, 3*n)
		}
		for i := range 4 * n {
			w.spend(fmt.Sprint("other ", i), specs[0], 1)
		}
		if got := w.Stats().Keys; got != n {
			t.Errorf("cap %d: %d keys stay", n, got)
		}
	}
}

// TestWideCallAtTheCapOfMemory: all keys of the table are in deficit, so that the
// new ones of a call are the first candidates to go again.
func TestWideCallAtTheCapOfMemory(t *testing.T) {
	w, p := newWorld(t, MaxBytes(1)), perHour(t, 10)
	for i := range 20_000 {
		w.spend(fmt.Sprint("full ", i), p, 10)
	}
	crowd(4, func(worker int) {
		for n := range 20 {
			var checks []store.Check
			for i := range 100 {
				checks = append(checks, store.Check{Key: fmt.Sprint("wide ", worker, n, i), Spec: p, Cost: 1})
			}
			if !w.all(checks...) {
				t.Error("a first call is denied")
			}
		}
	})
	w.eachSlot(func(_ *page, sl *slot) {
		if sl.unit.Load()&pinned != 0 {
			t.Error("a key stays pinned")
		}
	})
}
