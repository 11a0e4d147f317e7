package probe

import (
	"math/rand/v2"
	"slices"
	"time"
)

// schedule returns the instants, counted from the beginning of a step, at which calls are
// due. They are as independent of each other as those of many clients are (a Poisson
// process whose number is given), and exactly so many that the rate is right.
func schedule(rate float64, hold time.Duration, random *rand.Rand) []time.Duration {
	due := make([]time.Duration, callsOf(rate, hold))
	for i := range due {
		due[i] = time.Duration(random.Int64N(int64(hold)))
	}
	slices.Sort(due)
	return due
}

// callsOf is how many calls a rate makes in a time.
func callsOf(rate float64, hold time.Duration) int64 {
	return max(int64(rate*hold.Seconds()+0.5), 1)
}

// holdFor is how long a rate is tried: longer when it is so low that there would be too
// few calls, but not without end.
func (o *Options) holdFor(rate float64) time.Duration {
	enough := minCalls / rate * float64(time.Second)
	return max(o.Hold, time.Duration(min(enough, float64(4*o.Hold))))
}
