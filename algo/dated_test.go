package algo_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestDatedStatesTell: a state that was written later than now says so, unless it makes
// no difference: then the earlier instant decides no more generously, and leaves the
// same state. By its own instant no state is overtaken.
func TestDatedStatesTell(t *testing.T) {
	eachKind(t, algotest.Rounds(300, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w := newWalk(t, r, tame(r, kind))
		if !w.spec.Dated() {
			if !w.spec.Overtaken(&w.state, w.Step()) {
				t.Errorf("a limit without dates says that it is not overtaken")
			}
			return
		}
		for range 30 {
			now, cost := w.Step(), w.cost()
			if v := algo.Decide(w.spec, &w.state, now, cost, w.patience()); !v.Allowed || cost == 0 {
				continue // it was not written
			}
			if w.spec.Overtaken(&w.state, now) {
				t.Errorf("overtaken by its own instant: %+v at %d", w.state, now)
			}
			early := now - 1 - r.Int64N(1+r.Int64N(1+2*w.def.Period))
			if !w.spec.Overtaken(&w.state, early) {
				agree(w, early, now)
			}
		}
	})
}

// agree compares decisions of the same request by two instants.
func agree(w *walk, early, now int64) {
	w.Helper()
	one, two := clone(&w.state), clone(&w.state)
	a, b := algo.Decide(w.spec, one, early, 1, 0), algo.Decide(w.spec, two, now, 1, 0)
	if a.Allowed && !b.Allowed || a.Allowed == b.Allowed && !same(one, two) {
		w.Errorf("%+v on %+v: by %d %+v, state %+v; by %d %+v, state %+v", w.def, w.state, early, a, one, now, b, two)
	}
}

// TestDatedToTheMicrosecond: logs and warm-ups know when they were written, windows when
// their newest sub-window began. Calendars and buckets do not tell.
func TestDatedToTheMicrosecond(t *testing.T) {
	const now, second = 1_000_500_000, 1_000_000 // half a second into a window
	for _, c := range []struct {
		name string
		def  algo.Spec
		from int64 // the first instant by which it is not overtaken; 0: there is none
	}{
		{"log", algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 5, Period: second}}}, now},
		{"warm-up", algo.Spec{Kind: algo.WarmUp, Count: 5, Period: second, Warm: second, Cold: 3}, now},
		{"fixed", algo.Spec{Kind: algo.FixedWindow, Count: 5, Period: second}, now - second/2},
		{"first hit", algo.Spec{Kind: algo.FixedWindow, Count: 5, Period: second, FirstHit: true}, now},
		{"sliding", algo.Spec{Kind: algo.SlidingWindow, Count: 5, Period: second, Sub: 4}, now},
		{"weighted", algo.Spec{Kind: algo.WeightedWindow, Count: 5, Period: second}, now - second/2},
		{"calendar", algo.Spec{Kind: algo.FixedWindow, Count: 5, Period: second, Bounds: []int64{0, 2 * now}}, 0},
		{"bucket", algo.Spec{Kind: algo.TokenBucket, Count: 5, Period: second, Burst: 5}, 0},
		{"interval", algo.Spec{Kind: algo.IntervalBucket, Count: 5, Period: second, Burst: 5}, 0},
		{"leaky", algo.Spec{Kind: algo.LeakyBucket, Count: 5, Period: second, Burst: 5}, 0},
	} {
		p := compile(t, c.def)
		var st algo.State
		if p.Dated() && p.Overtaken(&st, now) {
			t.Errorf("%s: a key never seen is overtaken", c.name)
		}
		algo.Spend(p, &st, now, 1)
		if p.Dated() != (c.from > 0) {
			t.Errorf("%s: dated: %v", c.name, p.Dated())
		}
		if c.from == 0 {
			if !p.Overtaken(&st, now) {
				t.Errorf("%s: not overtaken, though it cannot know", c.name)
			}
			continue
		}
		if p.Overtaken(&st, c.from) || !p.Overtaken(&st, c.from-1) {
			t.Errorf("%s: overtaken at %d: %v, a µs before: %v", c.name, c.from, p.Overtaken(&st, c.from), p.Overtaken(&st, c.from-1))
		}
	}
}
