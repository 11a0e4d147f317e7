package recommend

import (
	"math"
	"slices"
)

// scales are over how many periods the busiest moments of a key are looked at: an attack
// that is not much busier than people are goes on for longer.
var scales = [...]int64{1, 10, 100, 1000}

// peaks are the most that a key has in any trailing time, on each scale.
type peaks [len(scales)]int64

// tail tells how busy keys get on one scale.
type tail struct {
	// busy is what the busiest hundredth has, and half as much again.
	busy int64
	// far is what 999 of 1,000 keys stay below, as the others let one expect: from the
	// busiest tenth to the busiest hundredth keys get busier by some factor, and by the
	// same factor again to the busiest thousandth.
	far int64
}

// fitTails takes the measure of keys on all scales.
func fitTails(keys []peaks) (tails [len(scales)]tail) {
	for i := range tails {
		tails[i] = fitTail(column(keys, i))
	}
	return tails
}

// column returns the peaks on one scale, sorted.
func column(keys []peaks, scale int) []int64 {
	sorted := make([]int64, len(keys))
	for i := range keys {
		sorted[i] = keys[i][scale]
	}
	slices.Sort(sorted)
	return sorted
}

func fitTail(sorted []int64) tail {
	n := len(sorted)
	if n == 0 {
		return tail{leastFar, leastFar}
	}
	tenth, hundredth := max(sorted[n*90/100], 1), sorted[n*99/100]
	busy := max(hundredth*3/2, leastFar)
	further := float64(hundredth) * float64(hundredth) / float64(tenth) // of bytes, the square is more than an int64 holds
	return tail{busy, max(int64(min(further, math.MaxInt64/8)), busy)}
}
