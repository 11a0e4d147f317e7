package algo_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestAfterAnAnswer: what is derived from one answer is what the limit itself
// says when it is asked right after it.
func TestAfterAnAnswer(t *testing.T) {
	eachKind(t, algotest.Rounds(200, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		def := algotest.RandomSpec(r, kind)
		p, stream, s := compile(t, def), algotest.NewStream(r, def), algo.State{}
		for range 40 {
			now := stream.Step()
			v := algo.Decide(p, &s, now, stream.Cost(), 0)
			if !p.Leasable() || v.Never {
				continue
			}
			cost := 1 + r.Int64N(algotest.NewOracle(def).Most())
			want := algo.Check(p, &s, now, cost, 0)
			got, known := p.DenialAfter(v, cost)
			if known && (want.Allowed || got != want) {
				t.Errorf("%s: after %+v cost %d is denied by %+v, want %+v", algotest.Describe(def), v, cost, got, want)
			}
			if !known && !want.Allowed && kind != algo.SlidingWindow {
				t.Errorf("%s: after %+v nothing is known of cost %d, want %+v", algotest.Describe(def), v, cost, want)
			}
			if want.Allowed {
				left := p.Remaining(p.Moved(v, cost))
				back := p.Remaining(p.Moved(want, -cost))
				if left != p.Remaining(want) || back != p.Remaining(v) {
					t.Errorf("%s: %+v and %+v lie cost %d apart: %d and %d remain", algotest.Describe(def), v, want, cost, left, back)
				}
			}
		}
	})
}

// TestTurnAfter: one µs before the turn a spend counts in the same window or
// sub-window as the first, and at the turn it does not.
func TestTurnAfter(t *testing.T) {
	eachKind(t, algotest.Rounds(200, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		if kind != algo.FixedWindow && kind != algo.SlidingWindow {
			return
		}
		def := algotest.RandomSpec(r, kind)
		p, now, s := compile(t, def), 1+r.Int64N(1<<50), algo.State{}
		turn := p.TurnAfter(algo.Decide(p, &s, now, 1, 0))
		gone := func(at int64) int64 { // from which instant on nothing counts any more
			c := clone(&s)
			algo.Spend(p, c, at, 1)
			return c.T
		}
		if turn < 1 || gone(now+turn-1) != s.T || gone(now+turn) == s.T {
			t.Errorf("%s: spent at %d, turns after %d", algotest.Describe(def), now, turn)
		}
	})
}

func TestTurnOfABucket(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1, Burst: 1})
	if got := p.TurnAfter(algo.Verdict{Allowed: true}); got != algo.MaxSpan {
		t.Errorf("a bucket turns after %d µs", got)
	}
}

func TestRefillIn(t *testing.T) {
	eachKind(t, algotest.Rounds(200, 20_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		if kind != algo.TokenBucket {
			return
		}
		p := compile(t, algotest.RandomSpec(r, kind))
		span := r.Int64N(1e6)
		exact := big.NewRat(p.Count, 1)
		exact.Mul(exact, big.NewRat(span, p.Period))
		got := big.NewRat(p.RefillIn(span), 1)
		if over := new(big.Rat).Sub(got, exact); over.Sign() < 0 || over.Cmp(big.NewRat(1, 1)) >= 0 {
			t.Errorf("%d per %d µs: %v in %d µs, want %v rounded up", p.Count, p.Period, got, span, exact)
		}
	})
}
