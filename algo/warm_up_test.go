package algo_test

import (
	"hash/fnv"
	"math"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestWarmUpClosedForm takes single permits from cold to warm and beyond; every
// wait equals the closed-form integral to the microsecond.
func TestWarmUpClosedForm(t *testing.T) {
	for cold := 1.0; cold <= 10; cold++ {
		for _, rate := range []int64{3, 10, 97, 99_991} {
			def := algo.Spec{Kind: algo.WarmUp, Count: rate, Period: 1e6, Warm: 3_000_000, Cold: cold}
			w := newWalk(t, algotest.Rand(1, 1), def)
			w.Now = 1e15
			for k := range 40 {
				w.decide(1+int64(k%3), forever)
			}
		}
	}
}

// TestWarmUpGuava is the sequence of Guava's own test: 2 permits per second, four
// seconds of warm-up, cold factor 3.
func TestWarmUpGuava(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.WarmUp, Count: 2, Period: 1e6, Warm: 4e6, Cold: 3})
	var s algo.State
	now := int64(1e15)
	round := []int64{0, 1_375_000, 1_125_000, 875_000, 625_000, 500_000, 500_000, 500_000}
	for range 2 {
		for i, want := range round {
			v := algo.Decide(p, &s, now, 1, forever)
			if v.Wait != want {
				t.Errorf("request %d waits %d, want %d", i+1, v.Wait, want)
			}
			now += v.Wait
		}
		now += 500_000 + 4_000_000 // the last one is paid for, then it cools down
	}
}

// TestWarmUpRepeats: the same requests give the same states bit for bit, on every
// machine. A new number here must come with the same change in every mirror.
func TestWarmUpRepeats(t *testing.T) {
	const want = uint64(0x53a1a2e2cbdbd1f3)
	hash := fnv.New64a()
	r := algotest.Rand(20_240_101, 1)
	for range 300 {
		def := tame(r, algo.WarmUp)
		w := newWalk(t, r, def)
		for range 30 {
			algo.Decide(w.spec, &w.state, w.Step(), w.cost(), w.patience())
			for _, word := range w.state.More {
				hash.Write([]byte{byte(word), byte(word >> 16), byte(word >> 40), byte(word >> 56)})
			}
		}
	}
	if got := hash.Sum64(); got != want {
		t.Errorf("hash of the states %#x, want %#x", got, want)
	}
}

// TestSoakWarmUpRefund gives back what was just taken: the wait is what it was.
func TestSoakWarmUpRefund(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(algotest.Rounds(300, 20_000)) {
		r := algotest.Rand(seed, n)
		w := newWalk(t, r, tame(r, algo.WarmUp))
		for range 10 {
			w.Step()
			w.decide(w.cost(), w.patience())
		}
		before, _ := w.oracle.WarmWait(w.Now)
		cost := 1 + r.Int64N(5)
		algo.Spend(w.spec, &w.state, w.Now, cost)
		paid := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		algo.Refund(w.spec, &w.state, w.Now, cost)
		v := algo.Check(w.spec, &w.state, w.Now, 0, 0)
		w.note("cost %d paid %+v and given back %+v", cost, paid, v)
		// Fresh permits cannot be told from stored ones: never too much comes back, and
		// if none were fresh, all.
		got := w.spec.ResetAfter(v)
		if got < before-1 || got > w.spec.ResetAfter(paid) {
			w.bad("wait %d after the refund, was %d", got, before)
		}
	}
}

// TestWarmUpRefundWhileCold gives all back as long as permits were stored.
func TestWarmUpRefundWhileCold(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.WarmUp, Count: 100, Period: 1e6, Warm: 4e6, Cold: 3})
	var s algo.State
	algo.Spend(p, &s, 1e15, 3)
	before := algo.Check(p, &s, 1e15, 0, 0)
	algo.Spend(p, &s, 1e15, 7)
	algo.Refund(p, &s, 1e15, 7)
	after := algo.Check(p, &s, 1e15, 0, 0)
	if d := p.ResetAfter(after) - p.ResetAfter(before); d < 0 || d > 1 {
		t.Errorf("wait %d, was %d", p.ResetAfter(after), p.ResetAfter(before))
	}
	algo.Refund(p, &s, 1e15, 1000)
	if v := algo.Check(p, &s, 1e15, 0, 0); !v.Allowed || p.Remaining(v) != 1 {
		t.Errorf("everything is given back, and still %+v", v)
	}
	algo.Refund(p, &s, 1e15, 1) // nothing is owed
}

// TestSoakWarmUpClockBack: the wait after the step back is at most that of the last
// write, however far it went.
func TestSoakWarmUpClockBack(t *testing.T) {
	seed := algotest.Seed(t, *seedFlag)
	for n := range uint64(algotest.Rounds(200, 20_000)) {
		w, before := stepBack(t, algotest.Rand(seed, n), algo.WarmUp, true)
		v := algo.Decide(w.spec, &w.state, w.Now, 1, 0)
		w.note("back: %+v", v)
		if w.spec.RetryAfter(v) > algo.MaxAhead {
			w.bad("blocked for more than the longest wait")
		}
		if v.Allowed && w.spec.ResetAfter(before) > 0 {
			w.bad("the step back granted a permit")
		}
		w.honestAfterCut(v)
	}
}

func (w *walk) honestAfterCut(v algo.Verdict) {
	w.Helper()
	if !v.Allowed {
		w.honest(&w.state, v, 1, 0)
	}
}

// TestWarmUpExtremes: no wait is above a year, and none is negative.
func TestWarmUpExtremes(t *testing.T) {
	for _, def := range []algo.Spec{
		{Kind: algo.WarmUp, Count: 1, Period: algo.MaxSpan, Warm: algo.MaxSpan, Cold: 1e6},
		{Kind: algo.WarmUp, Count: 1000, Period: 1, Warm: 1, Cold: 1},
		{Kind: algo.WarmUp, Count: 1000, Period: 1, Warm: algo.MaxSpan, Cold: 1e6},
		{Kind: algo.WarmUp, Count: 1, Period: algo.MaxSpan, Warm: 1, Cold: math.Nextafter(1, 2)},
	} {
		p := compile(t, def)
		var s algo.State
		now := int64(1) << 52
		for _, cost := range []int64{1, 1000, algo.MaxCount, algo.MaxCount, 1} {
			v := algo.Decide(p, &s, now, cost, forever)
			if !v.Allowed || v.Wait < 0 || v.Wait > algo.MaxAhead || p.ResetAfter(v) > algo.MaxAhead+1 {
				t.Errorf("%s cost %d: %+v", algotest.Describe(def), cost, v)
			}
		}
		if s.T < now || s.T > now+2*algo.MaxSpan {
			t.Errorf("%s: T is %d", algotest.Describe(def), s.T)
		}
		algo.Refund(p, &s, now, algo.MaxCount)
	}
}
