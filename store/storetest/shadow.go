package storetest

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// shade makes shadows of some checks at the end, every other time.
func shade(r *rand.Rand, checks []store.Check) {
	if r.IntN(2) == 0 {
		return
	}
	for i := r.IntN(len(checks) + 1); i < len(checks); i++ {
		checks[i].Shadow = true
	}
}

// shaded are the checks of a call: one of key a that is no shadow, and two that are.
func shaded(p *algo.Spec, a, b, c int64) []store.Check {
	return []store.Check{
		{Key: "a", Spec: p, Cost: a, ID: "id", Hold: 1e6},
		{Key: "b", Spec: p, Cost: b, ID: "id", Hold: 1e6, Shadow: true},
		{Key: "c", Spec: p, Cost: c, ID: "id", Hold: 1e6, Shadow: true},
	}
}

// wantAllowed compares what the checks of a call got.
func (w *world) wantAllowed(got []store.Check, when string, want ...bool) {
	w.Helper()
	for i, c := range got {
		if c.Verdict.Allowed != want[i] {
			w.Errorf("%s: check %d: allowed %v, want %v", when, i+1, c.Verdict.Allowed, want[i])
		}
	}
}

// testShadow: a shadow denies nobody, not even another shadow; it is spent if it is
// allowed and so are all others, and else it is not.
func testShadow(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		if p.Kind == algo.LeakyBucket {
			return // only the first goes without waiting
		}
		left := func(when string, a, b, c int64) {
			w.Helper()
			w.wantLeft("a", p, a, when+": the one that is no shadow")
			w.wantLeft("b", p, b, when+": the first shadow")
			w.wantLeft("c", p, c, when+": the second shadow")
		}
		w.wantAllowed(w.take(store.Spend, shaded(p, 10, 80, 30)...), "all are allowed", true, true, true)
		left("all are allowed", 90, 20, 70)
		w.wantAllowed(w.take(store.Spend, shaded(p, 10, 21, 30)...), "a shadow is denied", true, false, true)
		left("a shadow is denied", 80, 20, 40)
		w.wantAllowed(w.take(store.Spend, shaded(p, 10, 101, 41)...), "both shadows are denied", true, false, false)
		left("both shadows are denied", 70, 20, 40)
		w.wantAllowed(w.take(store.Spend, shaded(p, 71, 20, 41)...), "what is no shadow is denied", false, true, false)
		left("what is no shadow is denied", 70, 20, 40)
		w.wantAllowed(w.take(store.Spend, shaded(p, 0, 20, 0)...), "two only look", true, true, true)
		left("two only look", 70, 0, 40)
		w.wantAllowed(w.take(store.Spend, shaded(p, 70, 1, 40)[1:]...), "nothing but shadows", false, true)
		left("nothing but shadows", 70, 0, 0)
	})
}

// testShadowReservation: a shadow is settled if it was spent; if not, that keeps
// nobody from being settled.
func testShadowReservation(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		w.wantAllowed(w.take(store.Reserve, shaded(p, 60, 101, 60)...), "a shadow is denied", true, false, true)
		w.wantLeft("a", p, 40, "reserved beside a shadow that is denied")
		w.wantLeft("b", p, 100, "a shadow that was denied")
		w.wantLeft("c", p, 40, "a shadow beside one that was denied")
		w.wantAllowed(w.take(store.Commit, shaded(p, 20, 20, 20)...), "settled", true, false, true)
		w.wantLeft("a", p, 80, "settled beside a shadow that was denied")
		w.wantLeft("b", p, 100, "a shadow that was never spent")
		w.wantLeft("c", p, 80, "a shadow that was settled")
		w.take(store.Reset, store.Check{Key: "c", Spec: p})
		w.wantAllowed(w.take(store.Reserve, shaded(p, 101, 10, 10)...), "a reservation is denied", false, true, true)
		w.wantAllowed(w.take(store.Commit, shaded(p, 0, 0, 0)...), "nothing to settle", false, false, false)
		w.wantLeft("c", p, 100, "a shadow of a reservation that was denied")
	})
}

// testShadowPermits: likewise for who is in flight.
func testShadowPermits(t testing.TB, s *suite) {
	w, p := s.world(t), permitsOf(t, 100)
	peek := func(key string) int64 {
		return p.Remaining(w.take(store.Acquire, permit(p, key, "nobody", 0))[0].Verdict)
	}
	left := func(when string, a, b, c int64) {
		t.Helper()
		if x, y, z := peek("a"), peek("b"), peek("c"); x != a || y != b || z != c {
			t.Errorf("%s: %d, %d and %d remain, want %d, %d and %d", when, x, y, z, a, b, c)
		}
	}
	w.take(store.Acquire, permit(p, "b", "other", 50))
	w.wantAllowed(w.take(store.Acquire, shaded(p, 60, 51, 60)...), "a shadow is denied", true, false, true)
	left("a shadow is denied", 40, 50, 40)
	w.wantAllowed(w.take(store.Renew, shaded(p, 60, 51, 60)...), "renewed", true, false, true)
	w.wantAllowed(w.take(store.Release, shaded(p, 0, 0, 0)...), "released", true, false, true)
	left("released", 100, 50, 100)
	w.take(store.Acquire, permit(p, "a", "other", 50))
	w.wantAllowed(w.take(store.Acquire, shaded(p, 60, 50, 60)...), "what is no shadow is denied", false, true, true)
	left("what is no shadow is denied", 50, 50, 100)
}
