package algo_test

import (
	"math"
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

func TestNumbers(t *testing.T) {
	const ahead = algo.MaxAhead
	for _, c := range []struct {
		def  algo.Spec
		want []float64
	}{
		{algo.Spec{Kind: algo.Unlimited}, []float64{algo.MaxCount, ahead}},
		{algo.Spec{Kind: algo.Ban}, []float64{0, ahead}},
		{algo.Spec{Kind: algo.TokenBucket, Count: 6, Period: 4, Burst: 5}, []float64{5, ahead, 3, 2, 3, 1, 0, 2}},
		{algo.Spec{Kind: algo.LeakyBucket, Count: 6, Period: 4, Burst: 5, MaxWait: 9}, []float64{6, 9, 3, 2, 4, 0, 0, 2}},
		{algo.Spec{Kind: algo.IntervalBucket, Count: 2, Period: 10, Burst: 5}, []float64{5, ahead, 2, 10, 5, 3}},
		{algo.Spec{Kind: algo.WarmUp, Count: 1, Period: 2, Warm: 8, Cold: 3}, []float64{algo.MaxCount, ahead, 8, 2, 2, 2, 4, 2}},
		{algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: 10}, []float64{7, ahead, 7, 10, 0}},
		{algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: 10, FirstHit: true}, []float64{7, ahead, 7, 10, 1}},
		{algo.Spec{Kind: algo.FixedWindow, Count: 7, Period: 10, Bounds: []int64{3, 5, 9}}, []float64{7, ahead, 7, 10, 0, 3, 5, 9}},
		{algo.Spec{Kind: algo.SlidingWindow, Count: 7, Period: 10, Sub: 5}, []float64{7, ahead, 7, 10, 5}},
		{algo.Spec{Kind: algo.WeightedWindow, Count: 7, Period: 10}, []float64{7, ahead, 7, 10}},
		{algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{7, 10}, {5, 90}}}, []float64{5, ahead, 90, 7, 10, 5, 90}},
		{algo.Spec{Kind: algo.Concurrency, Count: 7}, []float64{0, ahead, 7}},
	} {
		p, err := algo.Compile(c.def)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Numbers(nil); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.def, got, c.want)
		}
	}
}

// TestNumbersAreExact: none is too large for a double, whatever the limit.
func TestNumbersAreExact(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(2000, 200_000)) {
		r := algotest.Rand(seed, n)
		kind := algotest.Pick(r, algotest.Kinds())
		if kind == algo.WarmUp {
			continue
		}
		def := algotest.RandomSpec(r, kind)
		p, err := algo.Compile(def)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range p.Numbers(nil) {
			if x != math.Trunc(x) || x < 0 || x >= 1<<53 {
				t.Fatalf("seed %d round %d: number %d of %s is %v", seed, n, i, algotest.Describe(def), x)
			}
		}
	}
}

// TestBucketMark: the mark that follows from the verdict is that of the state.
func TestBucketMark(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(500, 50_000)) {
		r := algotest.Rand(seed, n)
		def := algotest.RandomSpec(r, algotest.Pick(r, []algo.Kind{algo.TokenBucket, algo.LeakyBucket}))
		p, err := algo.Compile(def)
		if err != nil {
			t.Fatal(err)
		}
		var s algo.State
		stream := algotest.NewStream(r, def)
		for range 50 {
			now, cost := stream.Step(), max(1, stream.Cost())
			if v := algo.Decide(p, &s, now, cost, stream.Patience()); v.Allowed && p.BucketMark(v, now) != p.Mark(&s) {
				t.Fatalf("seed %d round %d: %+v, want %+v", seed, n, p.BucketMark(v, now), p.Mark(&s))
			}
		}
	}
}

func TestRefusedWindow(t *testing.T) {
	p, err := algo.Compile(algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{10, 1}, {5, 2}, {7, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	for cost, want := range map[int64]uint8{6: 1, 8: 1, 11: 0} {
		v := algo.Decide(p, &algo.State{}, 1, cost, 0)
		if got := p.RefusedWindow(cost); got != want || v.Window != want || !v.Never {
			t.Errorf("cost %d: window %d, want %d; verdict %+v", cost, got, want, v)
		}
	}
}
