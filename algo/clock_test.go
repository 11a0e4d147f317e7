package algo_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// recovery is the time after which any state of a limit, without waits and debts,
// must be as good as new.
func recovery(def algo.Spec, now int64) int64 {
	one := algotest.NewOracle(def)
	one.Admit(now, one.Most())
	switch def.Kind {
	case algo.FixedWindow:
		longest := def.Period
		for i := 1; i < len(def.Bounds); i++ {
			longest = max(longest, def.Bounds[i]-def.Bounds[i-1])
		}
		return longest
	case algo.WeightedWindow:
		return 2 * def.Period
	case algo.SlidingWindow:
		return def.Period
	case algo.SlidingLog:
		longest := int64(0)
		for _, w := range def.Windows {
			longest = max(longest, w.Period)
		}
		return longest
	}
	return one.Reset(now)
}

// stepBack sends a stream and then takes the clock back.
func stepBack(t testing.TB, r *rand.Rand, kind algo.Kind, book bool) (w *walk, before algo.Verdict) {
	w = newWalk(t, r, tame(r, kind))
	for range 15 {
		w.Step()
		patience := int64(0)
		if book {
			patience = w.patience()
		}
		w.decide(w.cost(), patience)
	}
	before = algo.Check(w.spec, &w.state, w.Now, 0, 0)
	w.note("last look %+v", before)
	w.Now -= algotest.LogUniform(r, max(1, min(w.Now, 1e15)))
	w.Now = max(0, w.Now)
	return w, before
}

// TestSoakClockBack takes the clock back and asks: nothing is granted by that, and nothing
// is blocked for longer than the full recovery (plus what was booked).
func TestSoakClockBack(t *testing.T) {
	eachKind(t, algotest.Rounds(400, 40_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		book := r.IntN(2) == 0
		w, before := stepBack(t, r, kind, book)
		after := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		w.note("back: %+v", after)
		if got, was := w.spec.Remaining(after), w.spec.Remaining(before); got > was {
			w.bad("the step back granted %d, was %d", got, was)
		}
		if kind == algo.WarmUp {
			return // see TestSoakWarmUpClockBack
		}
		limit := recovery(w.def, w.Now)
		if book && w.spec.Books() {
			limit += longestWait(w.def)
		}
		most := w.oracle.Most()
		v := algo.Decide(w.spec, &w.state, w.Now, most, 0)
		w.note("cost %d: %+v", most, v)
		if got := max(w.spec.RetryAfter(v), w.spec.ResetAfter(after)); got > limit {
			w.bad("blocked for %d µs, the full recovery takes %d", got, limit)
		}
		if v.Allowed {
			return
		}
		w.honest(&w.state, v, most, 0)
	})
}

func longestWait(def algo.Spec) int64 {
	if def.MaxWait > 0 {
		return def.MaxWait
	}
	return algo.MaxAhead
}

// TestSoakClockBackBounds goes on after the step back and checks that what is let
// through from then on is no more than a new key would get.
func TestSoakClockBackBounds(t *testing.T) {
	eachKind(t, algotest.Rounds(300, 30_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w, _ := stepBack(t, r, kind, false)
		fresh, start := algotest.NewOracle(w.def), w.Now
		total := int64(0)
		for range 40 {
			w.Step()
			cost := w.cost()
			v := algo.Decide(w.spec, &w.state, w.Now, cost, 0)
			w.note("cost %d: %+v", cost, v)
			if left := w.spec.Remaining(v); left < 0 || left > w.oracle.Most() {
				w.bad("Remaining %d", left)
			}
			if !v.Allowed || cost == 0 {
				continue
			}
			exact := kind == algo.TokenBucket || kind == algo.LeakyBucket || kind == algo.SlidingLog
			if exact && !fresh.Ask(w.Now, cost, 0).Allowed {
				w.bad("more than a new key would get")
			}
			fresh.Admit(w.Now, cost)
			total += cost
		}
		switch kind {
		case algo.FixedWindow, algo.SlidingWindow, algo.WeightedWindow:
			windows := int64(2)
			if kind == algo.FixedWindow || w.def.Sub == 1 {
				windows = 3 // the one that the step back cut, the rest of the next, and the one after
			}
			if peak := fresh.Peak(w.def.Period); w.def.Bounds == nil && peak > windows*w.def.Count {
				w.bad("%d in one period", peak)
			}
		case algo.IntervalBucket:
			if steps := (w.Now-start)/w.def.Period + 1; total/w.def.Count > steps+w.def.Burst/w.def.Count+1 {
				w.bad("%d in %d steps", total, steps)
			}
		}
	})
}

// TestClockBackAlignedRetry: after a step back the true RetryAfter still is the one
// given: three sub-windows of a second, 1 in each of two, and the clock goes back.
func TestClockBackAlignedRetry(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.SlidingWindow, Count: 2, Period: 3e6, Sub: 3})
	var s algo.State
	algo.Decide(p, &s, 100e6, 1, 0)
	algo.Decide(p, &s, 101e6, 1, 0)
	now := int64(90_300_000)
	v := algo.Decide(p, &s, now, 2, 0)
	retry := p.RetryAfter(v)
	if v.Allowed || !algo.Check(p, &s, now+retry, 2, 0).Allowed {
		t.Errorf("denied again after RetryAfter %d", retry)
	}
	if algo.Check(p, &s, now+retry-1, 2, 0).Allowed {
		t.Errorf("allowed a microsecond before RetryAfter %d", retry)
	}
}
