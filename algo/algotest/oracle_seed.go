package algotest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns the seed of a random test and logs how to repeat it: a given seed
// other than 0, else the one in the environment (SLUICE_SEED), else a new one.
func Seed(t testing.TB, given uint64) uint64 {
	t.Helper()
	seed := given
	if text := os.Getenv("SLUICE_SEED"); seed == 0 && text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SLUICE_SEED: %v", err)
		}
	}
	for seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d (repeat with SLUICE_SEED=%d)", seed, seed)
	return seed
}

// Rand returns the n-th source of random numbers of a seed.
func Rand(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// Rounds is how often a long test repeats: short in daily runs, less under the race
// detector, which makes it slow and finds nothing more in the thousandth round, and long
// when SLUICE_SOAK is set.
func Rounds(short, long int) int {
	if os.Getenv("SLUICE_SOAK") != "" {
		return long
	}
	return max(1, short/slow)
}

// slow is how much slower tests are in this build.
var slow = 1
