package redis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
)

// slowExcess is the definition: every interval that begins with an admission and
// ends with another, or the same.
func slowExcess(log []admission, rate float64) float64 {
	worst := math.Inf(-1)
	for _, first := range log {
		for _, last := range log {
			if last.begin < first.begin {
				continue
			}
			var sum int64
			for _, a := range log {
				if a.begin >= first.begin && a.end <= last.end {
					sum += a.n
				}
			}
			worst = max(worst, float64(sum)-rate*(last.end-first.begin))
		}
	}
	return worst
}

func TestWorstExcessIsThatOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(algotest.Seed(t, 0), 2))
	for range 500 {
		log := make([]admission, 1+rng.IntN(20))
		for i := range log {
			begin := float64(rng.IntN(20)) // instants in common are likely
			log[i] = admission{begin, begin + float64(rng.IntN(5)), 1 + rng.Int64N(10)}
		}
		rate := float64(rng.IntN(5))
		fast, slow := worstExcess(log, rate), slowExcess(log, rate)
		if math.Abs(fast-slow) > 1e-9 {
			t.Fatalf("rate %v, %v: got %v, want %v", rate, log, fast, slow)
		}
	}
}

func TestWorstExcess(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []admission
		want float64
	}{
		{"nothing", nil, 0},
		{"one burst", []admission{{1, 1, 100}}, 100},
		{"a burst within a second of which ten came anew", []admission{{1, 2, 100}}, 90},
		{"a burst and what came since", []admission{{0, 0, 100}, {10, 10, 100}}, 100},
		{"two bursts too near", []admission{{0, 0, 100}, {1, 1, 100}}, 190},
	} {
		if got := worstExcess(c.log, 10); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
