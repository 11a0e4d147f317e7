package algo_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestSoakWord sends streams, with the clock going back now and then, to a bucket in a
// word and to the same in a state: the answers are equal, one for one.
func TestSoakWord(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(algotest.Rounds(1500, 100_000)) {
		r := algotest.Rand(seed, n)
		w := newWalk(t, r, algotest.RandomSpec(r, algo.TokenBucket))
		unit := w.spec.WordUnit()
		if unit == 0 {
			continue
		}
		epoch, word := w.Now, uint64(0)
		for range 50 {
			if w.Step()-epoch > algo.MaxWordTime {
				break
			}
			if r.IntN(10) == 0 {
				w.Now = max(epoch, w.Now-algotest.LogUniform(r, 1e12))
			}
			word = w.judgeWord(word, epoch)
		}
	}
}

// judgeWord decides on both and returns the new word.
func (w *walk) judgeWord(word uint64, epoch int64) uint64 {
	w.Helper()
	cost, patience, since := w.Cost(), w.Patience(), w.Now-epoch
	if taken, due, easy := w.spec.TakeWord(word, since, cost); easy {
		next, v, _ := w.spec.DecideWord(word, since, cost, 0)
		switch allowed := due <= w.spec.WordCapacity(); {
		case v.Allowed != allowed || allowed && (next != taken || v.Y != due):
			w.bad("TakeWord %d %d, DecideWord %d %+v", taken, due, next, v)
		case !allowed && w.spec.DenyWord(due, cost) != v:
			w.bad("DenyWord %+v, DecideWord %+v", w.spec.DenyWord(due, cost), v)
		}
	}
	next, got, cut := w.spec.DecideWord(word, since, cost, patience)
	want := algo.Decide(w.spec, &w.state, w.Now, cost, patience)
	w.note("cost %d patience %d: word %+v cut %v, state %+v", cost, patience, got, cut, want)
	if got.Allowed != want.Allowed || got.Never != want.Never || got.Wait != want.Wait ||
		w.spec.Remaining(got) != w.spec.Remaining(want) || w.spec.RetryAfter(got) != w.spec.RetryAfter(want) ||
		w.spec.ResetAfter(got) != w.spec.ResetAfter(want) {
		w.bad("word %+v, state %+v", got, want)
	}
	if s := algo.WordState(next, w.spec.WordUnit(), epoch); s.T >= w.Now {
		if !same(&s, &w.state) {
			w.bad("word as a state %+v, state %+v", s, w.state)
		}
		if back := w.spec.StateWord(&s, epoch); back != next {
			w.bad("word %d comes back as %d", next, back)
		}
	}
	return next
}

func TestWordUnit(t *testing.T) {
	for _, c := range []struct {
		def  algo.Spec
		unit uint64
	}{
		{algo.Spec{Kind: algo.TokenBucket, Count: 6, Period: 4, Burst: 1}, 3},
		{algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 1}, 1},
		{algo.Spec{Kind: algo.TokenBucket, Count: 999_983, Period: 1e6, Burst: 1}, 0}, // too fine
		{algo.Spec{Kind: algo.LeakyBucket, Count: 1, Period: 1e6, Burst: 1}, 0},
		{algo.Spec{Kind: algo.FixedWindow, Count: 1, Period: 1e6}, 0},
	} {
		if got := compile(t, c.def).WordUnit(); got != c.unit {
			t.Errorf("%s: unit %d, want %d", algotest.Describe(c.def), got, c.unit)
		}
	}
}

// TestWall: what is aligned to the time of day needs the time of day.
func TestWall(t *testing.T) {
	for kind, want := range map[algo.Kind]bool{
		algo.FixedWindow: true, algo.SlidingWindow: true, algo.WeightedWindow: true,
		algo.SlidingLog: false, algo.TokenBucket: false,
	} {
		def := algo.Spec{
			Kind: kind, Count: 1, Period: 10, Burst: 1, Sub: 1, Windows: []algo.Window{{Count: 1, Period: 1}},
		}
		if got := compile(t, def).Wall(); got != want {
			t.Errorf("%s: %v", algotest.KindName(kind), got)
		}
		def.FirstHit = true
		if kind == algo.FixedWindow && compile(t, def).Wall() {
			t.Error("a window that starts at the first request is not aligned")
		}
	}
}
