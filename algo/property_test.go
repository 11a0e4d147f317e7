package algo_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// tame draws a definition whose waits stay far below a year, so that no wait is
// cut; warm_up also stays where float64 is good for a thousandth of a µs.
func tame(r *rand.Rand, kind algo.Kind) algo.Spec {
	for {
		def := algotest.RandomSpec(r, kind)
		if kind != algo.WarmUp || float64(def.Period)/float64(def.Count)*def.Cold < 1e8 {
			return def
		}
	}
}

// patience draws one that leads to no wait above what warm_up books exactly.
func (w *walk) patience() int64 {
	if w.def.Kind == algo.WarmUp {
		return w.Rand.Int64N(1 + min(w.def.Warm, 1e10))
	}
	return w.Patience()
}

func (w *walk) cost() int64 {
	if w.def.Kind == algo.WarmUp {
		return min(w.Cost(), 50)
	}
	return w.Cost()
}

// TestSoakDefinition sends random streams and has every answer judged: allowed and
// denied, the wait, Remaining, RetryAfter, ResetAfter; a denial and a peek write
// nothing; past T the state is as good as zero.
func TestSoakDefinition(t *testing.T) {
	eachKind(t, algotest.Rounds(150, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w := newWalk(t, r, tame(r, kind))
		var departures algotest.Oracle
		departures.Def = w.def
		for range 60 {
			now := w.Step()
			cost := w.cost()
			v := w.decide(cost, w.patience())
			if v.Allowed && cost > 0 {
				departures.Admit(now+v.Wait, cost)
			}
		}
		inAnyInterval(w, &departures)
	})
}

// inAnyInterval checks the promise of the algorithm over all intervals of what
// was let through, waits included.
func inAnyInterval(w *walk, out *algotest.Oracle) {
	w.Helper()
	p, n := w.def.Period, w.def.Count
	atMost := func(length, most int64) {
		w.Helper()
		if peak := out.Peak(length); peak > most {
			w.bad("%d within %d µs, at most %d are promised", peak, length, most)
		}
	}
	for i := 1; i < len(out.Log); i++ {
		if out.Log[i].At < out.Log[i-1].At {
			w.bad("not first in, first out: departures %v", out.Log)
		}
	}
	switch w.def.Kind {
	case algo.TokenBucket: // a wait is rounded up to the µs, hence one µs
		if excess := out.Excess(w.def.Burst, 1); excess.Sign() > 0 {
			w.bad("%v above burst + rate·Δ", excess)
		}
	case algo.LeakyBucket:
		if last := len(out.Log) - 1; last >= 0 { // what lies between departures, without the last
			out.Log = out.Log[:last]
		}
		departuresApart(w, out)
	case algo.FixedWindow:
		if w.def.Bounds == nil {
			atMost(p, 2*n)
		}
	case algo.SlidingWindow:
		atMost(p/w.def.Sub*(w.def.Sub-1)+1, n)
		atMost(p, 2*n)
	case algo.WeightedWindow:
		atMost(p, 2*n-1)
	case algo.SlidingLog:
		for _, win := range w.def.Windows {
			atMost(win.Period, win.Count)
		}
	}
}

// departuresApart checks that consecutive departures are at least cost·p/n
// apart, to the microsecond.
func departuresApart(w *walk, out *algotest.Oracle) {
	w.Helper()
	for i := 1; i < len(out.Log); i++ {
		one := algotest.Oracle{Def: w.def, Log: out.Log[i-1 : i]}
		if gap, want := out.Log[i].At-out.Log[i-1].At, one.Reset(out.Log[i-1].At); gap < want-1 {
			w.bad("departures %d µs apart, want %d", gap, want)
		}
	}
}

// TestSoakRefundsAndDebts mixes in refunds and forced spending.
func TestSoakRefundsAndDebts(t *testing.T) {
	eachKind(t, algotest.Rounds(150, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		if kind == algo.WarmUp {
			return // its refunds are judged in TestSoakWarmUpRefund
		}
		w := newWalk(t, r, tame(r, kind))
		for range 60 {
			w.Step()
			cost := w.cost()
			switch k := r.IntN(10); {
			case k < 6:
				w.decide(cost, w.patience())
			case k < 9:
				w.refund(cost)
			case w.oracle.Ask(w.Now, cost, forever).Allowed || !w.spec.Books() && cost <= algo.MaxCount:
				w.force(cost)
			}
		}
	})
}

func (w *walk) refund(cost int64) {
	w.Helper()
	w.note("refund %d", cost)
	algo.Refund(w.spec, &w.state, w.Now, cost)
	if cost > 0 {
		w.oracle.Refund(w.Now, cost)
	}
	w.peek()
}

// force books a debt: what was admitted without asking.
func (w *walk) force(cost int64) {
	w.Helper()
	if cost == 0 {
		return
	}
	w.note("force %d", cost)
	algo.Spend(w.spec, &w.state, w.Now, cost)
	w.oracle.Admit(w.Now, cost)
	w.peek()
}

// TestSoakRefundRestores takes and gives back in the same instant.
func TestSoakRefundRestores(t *testing.T) {
	eachKind(t, algotest.Rounds(300, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		if kind == algo.WarmUp {
			return // see TestSoakWarmUpRefund
		}
		w := newWalk(t, r, tame(r, kind))
		for range 20 {
			w.Step()
			w.decide(w.cost(), 0)
		}
		w.Step()
		cost := max(1, w.cost())
		before := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		if !algo.Decide(w.spec, &w.state, w.Now, cost, 0).Allowed {
			return
		}
		w.note("cost %d and refund", cost)
		algo.Refund(w.spec, &w.state, w.Now, cost)
		after := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		if w.spec.Remaining(after) != w.spec.Remaining(before) ||
			w.spec.ResetAfter(after) != w.spec.ResetAfter(before) {
			w.bad("before %+v, after %+v", before, after)
		}
	})
}
