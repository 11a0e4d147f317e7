package algo_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestSoakChangeOfWindows changes the limit again and again: counts are kept, so a
// smaller limit binds at once and a larger one frees at once.
func TestSoakChangeOfWindows(t *testing.T) {
	eachKind(t, algotest.Rounds(40, 10_000), func(t testing.TB, r *rand.Rand, kind algo.Kind) {
		w := newWalk(t, r, tame(r, kind))
		if w.spec.Books() {
			return
		}
		for range 10 {
			for range 10 {
				w.Step()
				w.decide(w.cost(), 0)
			}
			w.redefine(algotest.RandomChange(r, w.def))
			w.peek()
		}
	})
}

func (w *walk) redefine(def algo.Spec) {
	w.Helper()
	next := compile(w, def)
	w.note("now %s", algotest.Describe(def))
	if next.Shape() != w.spec.Shape() {
		w.bad("the shape changed")
	}
	w.def, w.spec, w.oracle.Def = def, next, def
	now := w.Now
	w.Stream = algotest.NewStream(w.Rand, def)
	w.Now = now
}

// TestSoakChangeOfBuckets changes rate and capacity of smooth buckets: the instant of
// full recovery stays, to the n-th of a microsecond in which the new rate counts,
// and is cut to the new capacity.
func TestSoakChangeOfBuckets(t *testing.T) {
	for _, kind := range []algo.Kind{algo.TokenBucket, algo.LeakyBucket} {
		t.Run(algotest.KindName(kind), func(t *testing.T) {
			seed := algotest.Seed(t, *seedFlag)
			for n := range uint64(algotest.Rounds(500, 50_000)) {
				r := algotest.Rand(seed, n)
				w := newWalk(t, r, tame(r, kind))
				for range 8 {
					w.Step()
					w.decide(w.cost(), 0)
				}
				full := w.oracle.Full(w.Now)
				w.judgeChange(algotest.RandomChange(r, w.def), full)
			}
		})
	}
}

func (w *walk) judgeChange(def algo.Spec, full *big.Rat) {
	w.Helper()
	next := compile(w, def)
	v := algo.Check(next, &w.state, w.Now, 0, 0)
	w.note("now %s, %s µs from full: %+v", algotest.Describe(def), full.RatString(), v)
	due := roundUp(full, def.Count, def.Period)
	capacity := new(big.Rat).SetFrac64(def.Period, def.Count)
	capacity.Mul(capacity, new(big.Rat).SetInt64(algotest.NewOracle(def).Most()))
	if due.Cmp(capacity) > 0 {
		due = capacity
	}
	left := new(big.Rat).Sub(capacity, due)
	left.Mul(left, new(big.Rat).SetFrac64(def.Count, def.Period))
	if got, want := next.Remaining(v), floor(left); got != want {
		w.bad("Remaining %d after the change, want %d", got, want)
	}
	if got, want := next.ResetAfter(v), -floor(new(big.Rat).Neg(due)); got != want {
		w.bad("ResetAfter %d after the change, want %d", got, want)
	}
}

// roundUp rounds a time up to the unit in which a rate counts.
func roundUp(d *big.Rat, count, period int64) *big.Rat {
	n := new(big.Rat).SetInt(new(big.Rat).SetFrac64(count, period).Num()) // reduced
	units := new(big.Rat).Mul(d, n)
	down := new(big.Int).Div(units.Neg(units).Num(), units.Denom())
	return new(big.Rat).Quo(new(big.Rat).SetInt(down.Neg(down)), n)
}

func floor(v *big.Rat) int64 {
	return new(big.Int).Div(v.Num(), v.Denom()).Int64()
}

// TestSoakChangeOfInterval: the instant of full recovery stays, cut to the new
// capacity, and never more than a full bucket is missing.
func TestSoakChangeOfInterval(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(algotest.Rounds(500, 50_000)) {
		r := algotest.Rand(seed, n)
		w := newWalk(t, r, tame(r, algo.IntervalBucket))
		for range 8 {
			w.Step()
			w.decide(w.cost(), 0)
		}
		old := w.oracle.Reset(w.Now)
		def := algotest.RandomChange(r, w.def)
		next := compile(t, def)
		v := algo.Check(next, &w.state, w.Now, 0, 0)
		w.note("now %s: %+v", algotest.Describe(def), v)
		got, steps := next.ResetAfter(v), (def.Burst+def.Count-1)/def.Count
		if got != min(old, steps*def.Period) {
			w.bad("ResetAfter %d after the change, was %d", got, old)
		}
		if left := next.Remaining(v); left < 0 || left > def.Burst || got == 0 != (left == def.Burst) {
			w.bad("Remaining %d after the change", left)
		}
		if algo.Check(next, &w.state, w.Now, def.Burst, 0).Allowed != (got == 0) {
			w.bad("all of it is allowed though it is not full")
		}
	}
}

// TestShape: an amount may change, everything else starts fresh.
func TestShape(t *testing.T) {
	base := algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 10}
	shape := compile(t, base).Shape()
	for name, c := range map[string]struct {
		edit func(*algo.Spec)
		same bool
	}{
		"count":     {func(p *algo.Spec) { p.Count = 3 }, true},
		"burst":     {func(p *algo.Spec) { p.Burst = 3 }, true},
		"max wait":  {func(p *algo.Spec) { p.MaxWait = 3 }, true},
		"sub":       {func(p *algo.Spec) { p.Sub = 3 }, true}, // not used by a bucket
		"period":    {func(p *algo.Spec) { p.Period = 2e6 }, false},
		"ordinal":   {func(p *algo.Spec) { p.Ordinal = 1 }, false},
		"algorithm": {func(p *algo.Spec) { p.Kind = algo.LeakyBucket }, false},
		"window":    {func(p *algo.Spec) { p.Kind = algo.FixedWindow }, false},
	} {
		def := base
		c.edit(&def)
		if got := compile(t, def).Shape() == shape; got != c.same {
			t.Errorf("%s: same shape %v, want %v", name, got, c.same)
		}
	}
	fixed := algo.Spec{Kind: algo.FixedWindow, Count: 10, Period: 1e6}
	first, calendar := fixed, fixed
	first.FirstHit = true
	calendar.Bounds = []int64{0, 10}
	a, b, c := compile(t, fixed).Shape(), compile(t, first).Shape(), compile(t, calendar).Shape()
	if a == b || b == c || a == c {
		t.Errorf("fixed windows of different kinds share a shape")
	}
	calendar.Bounds = []int64{10, 20, 30}
	if compile(t, calendar).Shape() != c {
		t.Errorf("a calendar boundary is no change")
	}
}

// TestChangeOfWarmUp: what is owed stays owed, whatever the new rate.
func TestChangeOfWarmUp(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(200) {
		r := algotest.Rand(seed, n)
		w := newWalk(t, r, tame(r, algo.WarmUp))
		for range 8 {
			w.Step()
			w.decide(w.cost(), w.patience())
		}
		def := algotest.RandomChange(r, w.def)
		def.Warm, def.Cold = max(1, w.def.Warm/2), 5
		next := compile(t, def)
		if next.Shape() != w.spec.Shape() {
			w.bad("the shape changed")
		}
		before, after := algo.Check(w.spec, &w.state, w.Now, 0, 0), algo.Check(next, &w.state, w.Now, 0, 0)
		if before != after {
			w.bad("%+v before the change, %+v after", before, after)
		}
	}
}
