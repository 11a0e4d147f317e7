//go:build !race

package recommend

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// TestBoundHolds: of many stretches of real logs, each a random half or more of the time,
// what is refused on the last 30 % lies within the bound from the first 70 %, and the
// limit is not more than twice what would have been enough there. SLUICE_SOAK takes 100
// stretches and all algorithms.
func TestBoundHolds(t *testing.T) {
	splits, algorithms := 6, []sluice.Algorithm{sluice.SlidingLog}
	if os.Getenv("SLUICE_SOAK") != "" {
		splits, algorithms = 100, Algorithms
	}
	for _, name := range []string{"wordpress-2016", "semicomplete-2015"} {
		traffic := collect(t, readLog(name))
		from, to := traffic.span()
		for _, a := range algorithms {
			inside, tight, thin := 0, 0, 0
			for seed := range uint64(splits) {
				r := rand.New(rand.NewPCG(seed, 1))
				length := int64((0.5 + 0.5*r.Float64()) * float64(to-from))
				begin := from + int64(r.Float64()*float64(to-from-length))
				run := newRunner(t.Context(), traffic, begin, begin+length, filled(Options{Seed: seed}))
				whole := traffic.cut(begin, begin+length+1, run.opts.Period)
				run.labels.label(whole)
				if enough(whole) != nil {
					thin++
					continue
				}
				f, err := run.fitted(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				if f.Inside {
					inside++
				}
				if f.Ratio <= 2 {
					tight++
				}
			}
			all := splits - thin
			t.Logf("%s, %s: of %d splits %d are within the bound, %d at most twice the smallest; %d more are refused", name, a, all, inside, tight, thin)
			if inside*100 < 92*all || tight*100 < 92*all || all == 0 {
				t.Errorf("%s, %s: fewer than 92 %%", name, a)
			}
		}
	}
}
