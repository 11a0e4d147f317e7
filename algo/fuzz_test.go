package algo_test

import (
	"encoding/binary"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

func FuzzDecideTokenBucket(f *testing.F)    { fuzzDecide(f, algo.TokenBucket) }
func FuzzDecideIntervalBucket(f *testing.F) { fuzzDecide(f, algo.IntervalBucket) }
func FuzzDecideLeakyBucket(f *testing.F)    { fuzzDecide(f, algo.LeakyBucket) }
func FuzzDecideWarmUp(f *testing.F)         { fuzzDecide(f, algo.WarmUp) }
func FuzzDecideFixedWindow(f *testing.F)    { fuzzDecide(f, algo.FixedWindow) }
func FuzzDecideSlidingWindow(f *testing.F)  { fuzzDecide(f, algo.SlidingWindow) }
func FuzzDecideWeightedWindow(f *testing.F) { fuzzDecide(f, algo.WeightedWindow) }
func FuzzDecideSlidingLog(f *testing.F)     { fuzzDecide(f, algo.SlidingLog) }

// fuzzDecide reads a definition and steps from bytes. As long as the clock goes
// on, the oracle judges every answer; after it went back, only what must always
// hold is checked.
func fuzzDecide(f *testing.F, kind algo.Kind) {
	for _, s := range [][4]int64{{10, 1e6, 20, 0}, {1, 365 * 86400e6, 3, 5}, {1000, 1, 1e9, 1}, {999_983, 86_399_999_993, 7, 1e6}} {
		head := binary.LittleEndian.AppendUint64(nil, uint64(s[0]))
		for _, v := range s[1:] {
			head = binary.LittleEndian.AppendUint64(head, uint64(v))
		}
		f.Add(head, []byte{0, 1, 0, 0, 20, 0, 100, 3, 2, 40, 1, 1, 0, 0, 0, 8, 2, 5, 7, 1, 3, 200, 2, 1, 30, 0, 3})
		f.Add(head, []byte{0, 255, 0, 9, 255, 0, 17, 1, 0, 100, 255, 0, 3, 1, 1, 4, 255, 2})
	}
	f.Fuzz(func(t *testing.T, head, steps []byte) {
		def := readSpec(kind, head)
		if _, err := algo.Compile(def); err != nil || len(steps) > 300 {
			return
		}
		w := newWalk(t, algotest.Rand(1, 1), def)
		w.Now = 1_700_000_000_000_000
		monotone := kind != algo.WarmUp
		for len(steps) >= 3 {
			monotone = w.fuzzStep([3]byte(steps), monotone)
			steps = steps[3:]
		}
	})
}

// readSpec makes a definition of numbers; most of them compile.
func readSpec(kind algo.Kind, head []byte) algo.Spec {
	var n [4]int64
	for i := range n {
		if len(head) >= 8*i+8 {
			n[i] = int64(binary.LittleEndian.Uint64(head[8*i:]) >> 1)
		}
	}
	def := algo.Spec{Kind: kind, Count: n[0], Period: n[1], Burst: n[2], MaxWait: n[3]}
	switch kind {
	case algo.FixedWindow:
		def.FirstHit = n[2]%2 == 1
		if n[2]%3 == 1 && n[1] > 0 && n[1] < algo.MaxAhead {
			def.FirstHit, def.Bounds = false, []int64{1_700_000_000_000_000, 1_700_000_000_000_000 + n[1], 1_700_000_000_000_001 + 3*n[1]}
		}
	case algo.SlidingWindow:
		def.Sub = 1 + n[2]%20
		def.Period -= def.Period % def.Sub
	case algo.WarmUp:
		def.Warm, def.Cold = n[2], 1+float64(n[3]%90)/10
		def.MaxWait = 0
	case algo.SlidingLog:
		def.Windows = []algo.Window{{Count: n[0] % 1000, Period: n[1]}, {Count: n[0], Period: n[2]}}
		def.LogMax = algo.MaxCount
	}
	return def
}

// fuzzStep carries out one step: how far the clock moves, the cost, what to do.
func (w *walk) fuzzStep(step [3]byte, monotone bool) bool {
	w.Helper()
	gap := int64(step[0]>>2) << (step[0] & 3 * 9)
	cost := int64(step[1])
	if cost > 200 {
		cost = w.oracle.Most() + cost - 254
	}
	if step[2]>>4 == 15 && gap > 0 { // back
		gap, monotone = -min(gap, w.Now), false
	}
	w.Now = min(w.Now+gap, 1<<52)
	patience := int64(step[2]&0x70) << (step[2] & 3 * 8)
	switch {
	case !monotone:
		w.invariants(cost, patience)
	case step[2]&12 == 4:
		w.refund(max(0, cost))
	default:
		w.decide(cost, patience)
	}
	return monotone
}

// invariants holds whatever the clock does.
func (w *walk) invariants(cost, patience int64) {
	w.Helper()
	before := clone(&w.state)
	peek := algo.Check(w.spec, &w.state, w.Now, 0, 0)
	v := algo.Decide(w.spec, &w.state, w.Now, cost, patience)
	w.note("cost %d patience %d: %+v", cost, patience, v)
	left, retry, reset := w.spec.Remaining(v), w.spec.RetryAfter(v), w.spec.ResetAfter(v)
	if left < 0 || retry < 0 || reset < 0 || v.Wait < 0 || v.Wait > max(0, patience) {
		w.bad("remaining %d retry %d reset %d", left, retry, reset)
	}
	if left > w.spec.Remaining(peek) || v.Allowed && v.Never || !v.Allowed && !v.Never && retry == 0 {
		w.bad("before %+v", peek)
	}
	if cost == 0 && !same(before, &w.state) {
		w.bad("a peek wrote, state before %+v", before)
	}
	if !v.Allowed && w.spec.Remaining(algo.Check(w.spec, &w.state, w.Now, 0, 0)) != w.spec.Remaining(peek) {
		w.bad("a denial spent, state before %+v", before)
	}
}
