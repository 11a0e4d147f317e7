package algo_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// spent is one admitted request that may be given back.
type spent struct {
	index int // in the oracle's log
	at    int64
	cost  int64
	mark  algo.Mark
}

// returnable sends a stream without waits and picks one of what was admitted.
func returnable(t testing.TB, r *rand.Rand, kind algo.Kind) (*walk, *spent) {
	w := newWalk(t, r, tame(r, kind))
	var all []spent
	for range 1 + r.IntN(20) {
		w.Step()
		cost := w.cost()
		if w.decide(cost, 0).Allowed && cost > 0 {
			all = append(all, spent{len(w.oracle.Log) - 1, w.Now, cost, w.spec.Mark(&w.state)})
		}
	}
	if r.IntN(3) > 0 {
		w.Step()
	}
	if len(all) == 0 {
		return w, nil
	}
	pick := all[len(all)-1-r.IntN(min(len(all), 4))]
	return w, &pick
}

// TestSoakReturn gives back some of one spend: what of it still counts, never what
// others spent.
func TestSoakReturn(t *testing.T) {
	eachKind(t, algotest.Rounds(600, 30_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w, s := returnable(t, r, kind)
		if s == nil || kind == algo.WarmUp {
			return
		}
		back := 1 + r.Int64N(s.cost)
		before := w.oracle.Remaining(w.Now)
		alone := algotest.Oracle{Def: w.def, Log: w.oracle.Log[:s.index+1]} // as if nothing had come after it
		algo.Return(w.spec, &w.state, w.Now, back, s.at, s.mark, 0)
		w.note("return %d of the %d taken at %d", back, s.cost, s.at)
		v := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		switch kind {
		case algo.TokenBucket, algo.LeakyBucket:
			w.judgeReturn(v, back, alone.Full(w.Now))
		case algo.IntervalBucket:
			counted := w.def.Burst - alone.Remaining(w.Now)
			if got, want := w.spec.Remaining(v), before+min(back, counted); got != want {
				w.bad("Remaining %d, want %d", got, want)
			}
		default:
			if w.oracle.Reset(w.Now) > 0 && stillCounts(w.def, *s, w) {
				w.oracle.Log[s.index].Cost -= back
			}
			w.peek()
		}
	})
}

// stillCounts asks the oracle whether one spend alone would still count. A window
// that starts at the first request does so at the first of all.
func stillCounts(def algo.Spec, s spent, w *walk) bool {
	alone := algotest.Oracle{Def: def, Log: append([]algotest.Event(nil), w.oracle.Log[:s.index+1]...)}
	for i := range alone.Log[:s.index] {
		alone.Log[i].Cost = 0
	}
	return alone.Reset(w.Now) > 0
}

// judgeReturn: all that counts comes back exactly; of a spend that is refilled in
// part, what is left of it, to the microsecond and never more.
func (w *walk) judgeReturn(v algo.Verdict, cost int64, counted *big.Rat) {
	w.Helper()
	price := new(big.Rat).SetFrac64(w.def.Period, w.def.Count)
	price.Mul(price, new(big.Rat).SetInt64(cost))
	slack := int64(0)
	if counted.Cmp(price) < 0 {
		price, slack = counted, 1
	}
	due := new(big.Rat).Sub(w.oracle.Full(w.Now), price)
	want := max(0, -floor(new(big.Rat).Neg(due)))
	if got := w.spec.ResetAfter(v); got < want || got > want+slack {
		w.bad("full in %d µs, want %d; %s µs of it still counted", got, want, counted.FloatString(3))
	}
}

// TestReturnUncounted: who does not know what others gave back gets what is sure:
// nothing is left of a spend once as much time has passed as it took, and never
// more than by its place.
func TestReturnUncounted(t *testing.T) {
	eachKind(t, algotest.Rounds(600, 30_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w, s := returnable(t, r, kind)
		if s == nil {
			return
		}
		back := 1 + r.Int64N(s.cost)
		placed := algo.State{T: w.state.T, F: w.state.F, G: w.state.G, Ahead: w.state.Ahead}
		placed.More = append(placed.More, w.state.More...)
		algo.Return(w.spec, &placed, w.Now, back, s.at, s.mark, 0)
		before := w.spec.Mark(&w.state)
		algo.Return(w.spec, &w.state, w.Now, back, s.at, s.mark, algo.Uncounted)
		w.note("return %d of the %d taken at %d", back, s.cost, s.at)
		sure := w.spec.Shift(before, w.spec.Mark(&w.state))
		if known := w.spec.Shift(before, w.spec.Mark(&placed)); sure > known {
			w.bad("%d are given back, by its place %d", sure, known)
		}
		price := new(big.Rat).SetFrac64(w.def.Period, max(1, w.def.Count))
		whole := floor(price.Mul(price, new(big.Rat).SetInt64(back)))
		if age := w.Now - s.at; kind == algo.TokenBucket && sure > max(0, whole-age)+2 {
			w.bad("%d µs of a spend of %d are given back after %d µs", sure, back, age)
		}
	})
}

// TestShift: a mark that is moved by what was given back is the mark of the state,
// to the microsecond and never behind it.
func TestShift(t *testing.T) {
	for _, c := range []struct {
		def  algo.Spec
		cost int64
		back int64
		want int64
		late int64 // µs
	}{
		{algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 10, Burst: 9}, 5, 2, 20, 0},
		{algo.Spec{Kind: algo.TokenBucket, Count: 3, Period: 10, Burst: 9}, 5, 2, 7, 1},
		{algo.Spec{Kind: algo.LeakyBucket, Count: 1, Period: 10, Burst: 9}, 5, 9, 50, 0},
		{algo.Spec{Kind: algo.IntervalBucket, Count: 3, Period: 10, Burst: 9}, 5, 2, 2, 0},
		{algo.Spec{Kind: algo.IntervalBucket, Count: 3, Period: 10, Burst: 9}, 7, 5, 5, 0},
		{algo.Spec{Kind: algo.WarmUp, Count: 1, Period: 10, Warm: 1, Cold: 1}, 5, 2, 20, 0},
		{algo.Spec{Kind: algo.FixedWindow, Count: 9, Period: 10}, 5, 2, 0, 0},
	} {
		p, s := compile(t, c.def), algo.State{}
		algo.Spend(p, &s, 1000, c.cost)
		spent := p.Mark(&s)
		algo.Refund(p, &s, 1000, c.back)
		after := p.Mark(&s)
		if got := p.Shift(spent, after); got != c.want {
			t.Errorf("%s: %d back of %d moved %d, want %d", algotest.Describe(c.def), c.back, c.cost, got, c.want)
		}
		if got := p.Shifted(spent, c.want); p.Books() && (got.A > after.A || got.A < after.A-c.late || c.late == 0 && got.B != after.B) {
			t.Errorf("%s: moved to %+v, the state has %+v", algotest.Describe(c.def), got, after)
		}
		if got := p.Shift(after, spent); got != 0 {
			t.Errorf("%s: a spend moved %d", algotest.Describe(c.def), got)
		}
	}
}
