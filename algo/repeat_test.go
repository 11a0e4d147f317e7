package algo_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestRepeat: what a denial says of later requests is what the state says: all of
// it for buckets, and for windows that it is denied, for no longer than is true.
func TestRepeat(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for _, kind := range algotest.Kinds() {
		repeated := 0
		for n := range uint64(algotest.Rounds(300, 30_000)) {
			r := algotest.Rand(seed+uint64(kind), n)
			def := algotest.RandomSpec(r, kind)
			p, err := algo.Compile(def)
			if err != nil {
				t.Fatal(err)
			}
			s, stream := algo.State{}, algotest.NewStream(r, def)
			for range 60 {
				now, cost, wait := stream.Step(), min(stream.Cost(), algo.MaxCount), stream.Patience()
				denied := algo.Decide(p, &s, now, cost, wait)
				if cost == 0 || p.RetryAfter(denied) == 0 {
					continue
				}
				elapsed := r.Int64N(p.RetryAfter(denied))
				more := min(algo.MaxCount, cost+r.Int64N(2)*algotest.LogUniform(r, 1000))
				less := wait - r.Int64N(2)*r.Int64N(1+min(wait, 1<<60))
				got, ok := p.Repeat(denied, elapsed, more, less)
				want := algo.Check(p, &s, now+elapsed, more, less)
				if ok == want.Never || !ok && more == cost {
					t.Fatalf("seed %d, round %d: %s: repeated: %v, want %+v", seed, n, algotest.Describe(def), ok, want)
				}
				if ok && !sameDenial(p, got, want, p.Books() || p.Kind == algo.FixedWindow || more == cost) {
					t.Fatalf("seed %d, round %d: %s: cost %d after %d, %d µs later cost %d: %+v, want %+v",
						seed, n, algotest.Describe(def), cost, wait, elapsed, more, got, want)
				}
				repeated++
			}
		}
		if repeated < 100 {
			t.Errorf("%s: only %d denials", algotest.KindName(kind), repeated)
		}
	}
}

func sameDenial(p *algo.Spec, got, want algo.Verdict, exact bool) bool {
	if got.Allowed || want.Allowed || got.Never || p.ResetAfter(got) != p.ResetAfter(want) ||
		exact && p.RetryAfter(got) != p.RetryAfter(want) || p.RetryAfter(got) > p.RetryAfter(want) {
		return false
	}
	if p.Books() {
		return p.Remaining(got) == p.Remaining(want)
	}
	return p.Remaining(got) <= p.Remaining(want)
}

// TestBlind: nothing is promised, whatever the algorithm.
func TestBlind(t *testing.T) {
	r := algotest.Rand(algotest.Seed(t, 0), 0)
	for _, kind := range algotest.Kinds() {
		p, err := algo.Compile(algotest.RandomSpec(r, kind))
		if err != nil {
			t.Fatal(err)
		}
		yes, no := p.Blind(true, 7), p.Blind(false, 7)
		if !yes.Allowed || p.Remaining(yes) != 0 || p.RetryAfter(yes) != 0 || yes.Wait != 0 {
			t.Errorf("%s allows: %+v", algotest.KindName(kind), yes)
		}
		if no.Allowed || no.Never || p.Remaining(no) != 0 || p.RetryAfter(no) != 7 {
			t.Errorf("%s denies: %+v", algotest.KindName(kind), no)
		}
	}
	for kind, allowed := range map[algo.Kind]bool{algo.Unlimited: true, algo.Ban: false} {
		p, err := algo.Compile(algo.Spec{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []algo.Verdict{p.Blind(true, 7), p.Blind(false, 7)} {
			if v.Allowed != allowed || v.Never == allowed || p.RetryAfter(v) != 0 {
				t.Errorf("kind %d: %+v", kind, v)
			}
		}
	}
}
