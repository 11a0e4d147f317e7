package algotest

import (
	"fmt"
	"math/rand/v2"

	"github.com/sluice-limiter/sluice/algo"
)

// Kinds lists every algorithm that keeps state.
func Kinds() []algo.Kind {
	return []algo.Kind{
		algo.TokenBucket, algo.IntervalBucket, algo.LeakyBucket, algo.WarmUp,
		algo.FixedWindow, algo.SlidingWindow, algo.WeightedWindow, algo.SlidingLog,
	}
}

// KindName is the name of an algorithm for test output.
func KindName(k algo.Kind) string {
	return [...]string{
		algo.Unlimited: "unlimited", algo.Ban: "ban", algo.TokenBucket: "token_bucket",
		algo.IntervalBucket: "interval_bucket", algo.LeakyBucket: "leaky_bucket", algo.WarmUp: "warm_up",
		algo.FixedWindow: "fixed_window", algo.SlidingWindow: "sliding_window",
		algo.WeightedWindow: "weighted_window", algo.SlidingLog: "sliding_log",
	}[k]
}

// day is 24 hours in µs.
const day = 24 * 3600 * 1_000_000

var (
	awkwardCounts = []int64{
		1, 2, 3, 5, 7, 10, 11, 60, 97, 100, 997, 1000, 7919, 10_000, 999_983, 1_000_000,
		6_700_417, 1_000_000_007, 1_000_000_000_039, 1_000_000_000_000,
	}
	awkwardPeriods = []int64{
		1, 2, 3, 7, 10, 997, 1000, 99_991, 1_000_000, 1_000_003, 10_000_000, 60_000_000,
		3_600_000_000, 86_399_999_993, day, 7 * day, 30 * day, 365 * day,
	}
)

// Pick returns one of the values.
func Pick[T any](r *rand.Rand, values []T) T { return values[r.IntN(len(values))] }

// LogUniform returns a number from 1 to limit, with all orders of magnitude
// equally likely.
func LogUniform(r *rand.Rand, limit int64) int64 {
	top := int64(1)
	for top < limit && r.IntN(40) > 0 {
		top *= 2
		if r.IntN(12) == 0 {
			break
		}
	}
	return 1 + r.Int64N(min(top, limit))
}

// RandomSpec returns a definition that compiles: rates from 1 per year to 10⁹ per
// second, prime and awkward ratios, small and large bursts.
func RandomSpec(r *rand.Rand, kind algo.Kind) algo.Spec {
	for {
		def := algo.Spec{Kind: kind, Count: Pick(r, awkwardCounts), Period: Pick(r, awkwardPeriods)}
		if r.IntN(3) == 0 {
			def.Count, def.Period = LogUniform(r, 1e12), LogUniform(r, 365*day)
		}
		shapeSpec(r, &def)
		if _, err := algo.Compile(def); err == nil {
			return def
		}
	}
}

func shapeSpec(r *rand.Rand, def *algo.Spec) {
	switch def.Kind {
	case algo.TokenBucket, algo.IntervalBucket, algo.LeakyBucket:
		def.Burst = randomBurst(r, def.Count)
		if r.IntN(4) == 0 {
			def.MaxWait = LogUniform(r, min(algo.MaxAhead, 4*def.Period))
		}
	case algo.WarmUp:
		def.Warm = LogUniform(r, day)
		def.Cold = Pick(r, []float64{1, 1.5, 2, 3, 3, 3, 7, 10})
	case algo.FixedWindow:
		def.FirstHit = r.IntN(2) == 0
		if r.IntN(3) == 0 {
			def.FirstHit, def.Bounds = false, randomBounds(r, def.Period)
		}
	case algo.SlidingWindow:
		def.Sub = Pick(r, []int64{1, 2, 3, 5, 10, 10, 60})
		def.Period = (def.Period + def.Sub - 1) / def.Sub * def.Sub
	case algo.SlidingLog:
		def.Windows = randomWindows(r)
	}
}

func randomBurst(r *rand.Rand, count int64) int64 {
	switch r.IntN(5) {
	case 0:
		return 1 + r.Int64N(3)
	case 1:
		return count
	case 2:
		return 3*count + 1
	}
	return LogUniform(r, 1e10)
}

func randomBounds(r *rand.Rand, period int64) []int64 {
	at := r.Int64N(1_000) * 1_000_003
	bounds := []int64{at}
	for range 2 + r.IntN(40) {
		at += 1 + period/2 + r.Int64N(period)
		bounds = append(bounds, at)
	}
	return bounds
}

func randomWindows(r *rand.Rand) []algo.Window {
	var windows []algo.Window
	for range 1 + r.IntN(3) {
		windows = append(windows, algo.Window{Count: LogUniform(r, 1000), Period: Pick(r, awkwardPeriods)})
	}
	return windows
}

// RandomChange returns another definition of the same shape: other amounts.
func RandomChange(r *rand.Rand, def algo.Spec) algo.Spec {
	for {
		next := def
		next.Count = max(1, Pick(r, []int64{def.Count / 2, def.Count * 2, def.Count + 1, LogUniform(r, 1e6)}))
		if def.Burst > 0 {
			next.Burst = max(1, Pick(r, []int64{def.Burst, def.Burst / 2, def.Burst * 2, LogUniform(r, 1e6)}))
		}
		next.Windows = nil
		for _, w := range def.Windows {
			w.Count = 1 + r.Int64N(2*w.Count)
			next.Windows = append(next.Windows, w)
		}
		if _, err := algo.Compile(next); err == nil {
			return next
		}
	}
}

// Describe prints a definition in one line, without what it does not use.
func Describe(def algo.Spec) string {
	text := fmt.Sprintf("%s count %d period %dµs", KindName(def.Kind), def.Count, def.Period)
	add := func(name string, value any, used bool) {
		if used {
			text += fmt.Sprintf(" %s %v", name, value)
		}
	}
	add("burst", def.Burst, def.Burst > 0)
	add("max_wait", def.MaxWait, def.MaxWait > 0 && def.MaxWait < algo.MaxAhead)
	add("sub", def.Sub, def.Sub > 0)
	add("first_hit", "", def.FirstHit)
	add("bounds", def.Bounds, def.Bounds != nil)
	add("windows", def.Windows, def.Windows != nil)
	add("warm", def.Warm, def.Warm > 0)
	add("cold", def.Cold, def.Cold > 0)
	return text
}
