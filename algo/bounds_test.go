package algo_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// greedy asks for 1 at every given instant, as often as it is allowed.
func greedy(t testing.TB, def algo.Spec, instants []int64) *algotest.Oracle {
	t.Helper()
	p, out := compile(t, def), algotest.NewOracle(def)
	var s algo.State
	for _, now := range instants {
		for algo.Decide(p, &s, now, 1, 0).Allowed {
			out.Admit(now, 1)
		}
	}
	return out
}

// TestFixedWindowTwiceAroundABoundary shows the known weakness.
func TestFixedWindowTwiceAroundABoundary(t *testing.T) {
	out := greedy(t, algo.Spec{Kind: algo.FixedWindow, Count: 10, Period: 1e6}, []int64{1_999_999, 2_000_000})
	if got := out.Peak(2); got != 20 {
		t.Errorf("%d within 2 µs around a boundary, want 20", got)
	}
}

// TestSlidingWindowBounds shows, for every number of sub-windows, that up to
// p·(n−1)/n there is never more than N, and that 2N within p are reached.
func TestSlidingWindowBounds(t *testing.T) {
	const count, size = 5, 10
	for n := int64(1); n <= algo.MaxSub; n++ {
		period := n * size
		last := 3*period + size - 1 // the last µs of a sub-window
		def := algo.Spec{Kind: algo.SlidingWindow, Count: count, Period: period, Sub: n}
		out := greedy(t, def, []int64{last, last + (n-1)*size, last + (n-1)*size + 1})
		if got := out.Peak(period); got != 2*count {
			t.Errorf("n=%d: %d within p, want 2N reached", n, got)
		}
		if got := out.Peak((n-1)*size + 1); got > count {
			t.Errorf("n=%d: %d within p(n−1)/n", n, got)
		}
	}
}

// TestSlidingWindowOfOneIsFixed compares n = 1 with the aligned fixed window.
func TestSlidingWindowOfOneIsFixed(t *testing.T) {
	r := algotest.Rand(algotest.Seed(t, *seedFlag), 0)
	one := newWalk(t, r, algo.Spec{Kind: algo.SlidingWindow, Count: 7, Period: 100, Sub: 1})
	fixed := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: 100})
	var s algo.State
	for range 1000 {
		now, cost := one.Step(), one.Cost()
		a, b := one.decide(cost, 0), algo.Decide(fixed, &s, now, cost, 0)
		if a != b {
			t.Fatalf("at %d cost %d: sliding %+v, fixed %+v", now, cost, a, b)
		}
	}
}

// TestWeightedWindowBelowTwice tries to get as much as possible into a period.
func TestWeightedWindowBelowTwice(t *testing.T) {
	const period, count = 200, 50
	instants := []int64{3*period - 1}
	for now := int64(3 * period); now < 4*period; now++ {
		instants = append(instants, now)
	}
	out := greedy(t, algo.Spec{Kind: algo.WeightedWindow, Count: count, Period: period}, instants)
	if got := out.Peak(period); got >= 2*count || got < 3*count/2 {
		t.Errorf("%d within p, want close to but below %d", got, 2*count)
	}
}

// TestNoLostFraction asks as soon as it may, for long: over any horizon the
// admitted total is the exact rational one.
func TestNoLostFraction(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n, done := uint64(0), 0; done < 40; n++ {
		r := algotest.Rand(seed, n)
		w := newWalk(t, r, tame(r, algo.TokenBucket))
		price, perMicro := w.def.Period/w.def.Count, w.def.Count/w.def.Period
		if price > algo.MaxSpan/5000 || w.def.Burst < 2*perMicro+4 {
			continue // too slow, or full again within a µs
		}
		done++
		w.Now = 0
		cost := 1 + r.Int64N(min(w.def.Burst/2, 1000))
		total := int64(0)
		for steps := 0; steps < 2000 || total <= w.def.Burst && steps < 1e6; steps++ {
			v := algo.Decide(w.spec, &w.state, w.Now, cost, 0)
			if v.Allowed {
				total += cost
				continue
			}
			w.Now += w.spec.RetryAfter(v) - r.Int64N(2) // sometimes a µs too early
		}
		judgeTotal(w, total, cost)
	}
}

// judgeTotal checks total ≤ burst + rate·now < total + cost.
func judgeTotal(w *walk, total, cost int64) {
	w.Helper()
	all := algotest.NewOracle(w.def)
	all.Admit(0, total)
	if all.Remaining(w.Now) == 0 && all.Reset(w.Now) > recovery(w.def, w.Now) {
		w.bad("admitted %d until %d, more than the rate", total, w.Now)
	}
	v := algo.Check(w.spec, &w.state, w.Now, cost, 0)
	if got, want := v.Allowed, all.Remaining(w.Now) >= cost; got != want {
		w.bad("admitted %d until %d: one more is allowed %v, want %v", total, w.Now, got, want)
	}
}

// TestLeakyDeparturesExact queues many at once: the k-th leaves at k·p/n,
// rounded up to the µs, with no drift.
func TestLeakyDeparturesExact(t *testing.T) {
	def := algo.Spec{Kind: algo.LeakyBucket, Count: 7, Period: 1e6, Burst: 100_000}
	p := compile(t, def)
	var s algo.State
	for k := range int64(100_001) {
		v := algo.Decide(p, &s, 5e6, 1, forever)
		if want := (k*1e6 + 6) / 7; !v.Allowed || v.Wait != want {
			t.Fatalf("departure %d: %+v, want %d", k, v, want)
		}
	}
	if v := algo.Decide(p, &s, 5e6, 1, forever); v.Allowed || p.RetryAfter(v) != 142_858 {
		t.Errorf("the queue is full: %+v", v)
	}
}

// TestCancel: a booking is given back only if nothing was booked after it.
func TestCancel(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(400) {
		r := algotest.Rand(seed, n)
		for _, kind := range []algo.Kind{algo.TokenBucket, algo.IntervalBucket, algo.LeakyBucket, algo.WarmUp} {
			def := tame(r, kind)
			def.MaxWait = 0
			w := newWalk(t, r, def)
			w.decide(min(w.oracle.Most()/2+1, 1000), forever)
			before := clone(&w.state)
			if a := w.book(1); a != nil {
				judgeCancel(w, before, *a)
			}
		}
	}
}

// book takes cost with any wait and returns its mark, nil if it was denied.
func (w *walk) book(cost int64) *algo.Mark {
	if !algo.Decide(w.spec, &w.state, w.Now, cost, forever).Allowed {
		return nil
	}
	mark := w.spec.Mark(&w.state)
	return &mark
}

func judgeCancel(w *walk, before *algo.State, a algo.Mark) {
	w.Helper()
	afterA := clone(&w.state)
	b := w.book(1)
	if b == nil {
		return
	}
	afterB := clone(&w.state)
	if *b != a && (algo.Cancel(w.spec, &w.state, w.Now, 1, a) || !same(afterB, &w.state)) {
		w.bad("cancelled a booking though another came after it")
	}
	if !algo.Cancel(w.spec, &w.state, w.Now, 1, *b) || !w.close(afterA) {
		w.bad("cancelling the newest booking does not restore %+v", afterA)
	}
	if w.def.Kind != algo.WarmUp && (!algo.Cancel(w.spec, &w.state, w.Now, 1, a) || !w.close(before)) {
		w.bad("cancelling both does not restore %+v", before)
	}
}

// close compares what two states answer; warm_up rounds.
func (w *walk) close(other *algo.State) bool {
	a, b := algo.Check(w.spec, &w.state, w.Now, 0, 0), algo.Check(w.spec, other, w.Now, 0, 0)
	d := w.spec.ResetAfter(a) - w.spec.ResetAfter(b)
	if w.def.Kind == algo.WarmUp {
		return d >= -1 && d <= 1
	}
	return d == 0 && w.spec.Remaining(a) == w.spec.Remaining(b)
}
