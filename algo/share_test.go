package algo_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// fleetOf returns the shares of all instances.
func fleetOf(p *algo.Spec, live int64) []*algo.Share {
	var all []*algo.Share
	for rank := range live {
		all = append(all, p.Share(rank, live))
	}
	return all
}

// smallDef returns a definition with counts that leave remainders.
func smallDef(r *rand.Rand, kind algo.Kind) algo.Spec {
	def := algo.Spec{Kind: kind, Count: 1 + r.Int64N(40), Period: 60 * (1 + r.Int64N(1000))}
	switch kind {
	case algo.TokenBucket, algo.LeakyBucket, algo.IntervalBucket:
		def.Burst = 1 + r.Int64N(40)
	case algo.SlidingWindow:
		def.Sub = algotest.Pick(r, []int64{1, 2, 3, 10})
	case algo.SlidingLog:
		for range 1 + r.IntN(3) {
			def.Windows = append(def.Windows, algo.Window{Count: 1 + r.Int64N(40), Period: 1 + r.Int64N(def.Period)})
		}
	case algo.FixedWindow:
		if r.IntN(3) == 0 {
			at := r.Int64N(def.Period)
			for range 40 {
				at += def.Period/2 + r.Int64N(def.Period)
				def.Bounds = append(def.Bounds, at)
			}
		}
	case algo.WarmUp:
		def.Warm, def.Cold = 1000, 3
	}
	return def
}

// TestShareIsExact: the parts of a fixed window add up to the limit in every
// window, and those of a bucket's rate to the rate.
func TestShareIsExact(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(500, 100_000)) {
		r := algotest.Rand(seed, n)
		live := 1 + r.Int64N(20)
		window, bucket := smallDef(r, algo.FixedWindow), smallDef(r, algo.TokenBucket)
		p, q := mustCompile(t, window), mustCompile(t, bucket)
		fleet, buckets := fleetOf(p, live), fleetOf(q, live)
		for range 20 {
			now, sum := r.Int64N(100*window.Period), int64(0)
			for _, s := range fleet {
				sum += s.At(now).Count
			}
			if sum != window.Count {
				t.Fatalf("seed %d, round %d: %s: %d instances share %d", seed, n, algotest.Describe(window), live, sum)
			}
		}
		rate := new(big.Rat)
		for _, s := range buckets {
			part := s.At(0)
			rate.Add(rate, big.NewRat(part.Count, part.Period))
			if part.Burst != max(1, bucket.Burst/live) || part.Shape() != q.Shape() || s.Thin() != (bucket.Burst < live) {
				t.Fatalf("%s: %d share it: %+v", algotest.Describe(bucket), live, part)
			}
		}
		steps := smallDef(r, algo.IntervalBucket)
		steps.Count += live
		sum := int64(0)
		for _, s := range fleetOf(mustCompile(t, steps), live) {
			sum += s.At(0).Count
		}
		if sum != steps.Count {
			t.Fatalf("%s: %d instances get %d per step", algotest.Describe(steps), live, sum)
		}
		if rate.Cmp(big.NewRat(bucket.Count, bucket.Period)) != 0 {
			t.Fatalf("%s: %d instances share a rate of %v", algotest.Describe(bucket), live, rate)
		}
	}
}

// TestShareGoesRound: every instance has its turn, as often as the others.
func TestShareGoesRound(t *testing.T) {
	p := mustCompile(t, algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: 10})
	for rank := range int64(4) {
		sum := int64(0)
		for k := range int64(4) {
			sum += p.Share(rank, 4).At(1000 + 10*k).Count
		}
		if sum != 7 {
			t.Errorf("rank %d: %d in four windows", rank, sum)
		}
	}
}

// TestShareFleet: a fleet that asks for all it can get stays within the limit, as
// an oracle sees it that knows of no shares, and does not leave much of it.
func TestShareFleet(t *testing.T) {
	seed := algotest.Seed(t, 0)
	kinds := []algo.Kind{
		algo.TokenBucket, algo.FixedWindow, algo.SlidingWindow, algo.WeightedWindow, algo.SlidingLog,
	}
	for _, kind := range kinds {
		admitted := 0
		for n := range uint64(algotest.Rounds(100, 5000)) {
			r := algotest.Rand(seed+uint64(kind), n)
			def := smallDef(r, kind)
			p, live := mustCompile(t, def), 1+r.Int64N(9)
			if kind == algo.TokenBucket {
				live = min(live, def.Burst)
			}
			fleet, states := fleetOf(p, live), make([]algo.State, live)
			oracle, now := algotest.NewOracle(def), 100*def.Period+r.Int64N(10*def.Period)
			for range 400 {
				now += r.Int64N(1+r.Int64N(1+def.Period/8)) * r.Int64N(2)
				i, cost := r.Int64N(live), 1+r.Int64N(2)*r.Int64N(4)
				by := fleet[i].At(now)
				if !algo.Decide(by, &states[i], now, cost, 0).Allowed {
					continue
				}
				if !oracle.Ask(now, cost, 0).Allowed {
					t.Fatalf("seed %d, round %d: %s: %d instances admit too much at %d", seed, n, algotest.Describe(def), live, now)
				}
				oracle.Admit(now, cost)
				admitted++
			}
		}
		if admitted < 1000 {
			t.Errorf("%s: only %d admitted", algotest.KindName(kind), admitted)
		}
	}
}

// TestShareRead: the caller, who knows only the whole limit, reads what this
// instance has left and when it can ask again: then, and not before.
func TestShareRead(t *testing.T) {
	seed := algotest.Seed(t, 0)
	waited := 0
	for n := range uint64(algotest.Rounds(1000, 50_000)) {
		r := algotest.Rand(seed, n)
		def := smallDef(r, algotest.Pick(r, algotest.Kinds()))
		p, live := mustCompile(t, def), 1+r.Int64N(12)
		share := p.Share(r.Int64N(live), live)
		state, now := algo.State{}, r.Int64N(100*def.Period)
		for range 20 {
			now += r.Int64N(2) * r.Int64N(def.Period)
			cost, by := r.Int64N(5), share.At(now)
			raw := algo.Decide(by, &state, now, cost, 0)
			v := share.Read(by, raw, now, cost)
			if left := p.Remaining(v); by.Kind != algo.Ban && left != by.Remaining(raw) {
				t.Fatalf("seed %d, round %d: %s: reads %d left, has %d", seed, n, algotest.Describe(def), left, by.Remaining(raw))
			}
			retry := p.RetryAfter(v)
			if v.Y < 0 || retry < 0 || p.ResetAfter(v) < 0 {
				t.Fatalf("seed %d, round %d: %s: negative: %+v", seed, n, algotest.Describe(def), v)
			}
			if retry == 0 {
				continue
			}
			waited++
			ask := func(at int64) bool { return algo.Check(share.At(at), &state, at, cost, 0).Allowed }
			if early := ask(now + retry - 1); early && kindIsExact(&def) || !ask(now+retry) {
				t.Fatalf("seed %d, round %d: %s, %d instances: cost %d at %d: retry after %d: %v",
					seed, n, algotest.Describe(def), live, cost, now, retry, early)
			}
		}
	}
	if waited < 1000 {
		t.Errorf("only %d waits", waited)
	}
}

// kindIsExact tells those that are never told to wait for too long: not those
// whose spends outlive a turn.
func kindIsExact(def *algo.Spec) bool { return def.Kind == algo.FixedWindow || def.Burst > 0 }

// TestShareKeepsState: what was spent stays spent when the number changes.
func TestShareKeepsState(t *testing.T) {
	for _, kind := range algotest.Kinds() {
		def := smallDef(algotest.Rand(1, 1), kind)
		p := mustCompile(t, def)
		for _, live := range []int64{1, 2, 5, 1000} {
			if got := p.Share(0, live).At(5).Shape(); got != p.Shape() {
				t.Errorf("%s: %d instances: another shape", algotest.KindName(kind), live)
			}
		}
	}
	p := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1_000_000, Burst: 100})
	s := algo.State{}
	algo.Decide(p.Share(0, 2).At(0), &s, 0, 50, 0) // all of its half
	if v := algo.Check(p.Share(0, 4).At(0), &s, 0, 1, 0); v.Allowed {
		t.Error("a fresh burst after the number changed")
	}
}

// TestShareIndivisible: what is too slow to be divided belongs to the first.
func TestShareIndivisible(t *testing.T) {
	p := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: algo.MaxSpan / 2, Burst: 1})
	if got := p.Share(0, 3).At(0); got != p {
		t.Errorf("first: %+v", got)
	}
	other := p.Share(1, 3)
	v := other.Read(other.At(0), algo.Check(other.At(0), &algo.State{}, 0, 1, 0), 0, 1)
	if v.Allowed || !v.Never || p.Remaining(v) != 0 {
		t.Errorf("second: %+v", v)
	}
}

// TestShareConcurrency: permits are divided for good.
func TestShareConcurrency(t *testing.T) {
	p := mustCompile(t, algo.Spec{Kind: algo.Concurrency, Count: 7})
	sum := int64(0)
	for _, s := range fleetOf(p, 3) {
		if s.Moves() || s.Thin() {
			t.Error("moves or is thin")
		}
		sum += s.At(0).Count
	}
	if sum != 7 {
		t.Errorf("%d permits", sum)
	}
}

func mustCompile(t *testing.T, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatalf("%s: %v", algotest.Describe(def), err)
	}
	return p
}
