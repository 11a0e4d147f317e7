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
		algo.Return(w.spec, &w.state, w.Now, back, s.at, s.mark)
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
