package recommend

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ahead is how much comes in the time that a bound is for, in comparison with the one that
// it comes from: that is as long as the check, and may have a tenth less than its share.
const ahead = 0.9 * (1 - fitShare) / fitShare

// drawnFutures is how often a future is drawn.
const drawnFutures = 4000

// future is how many keys a limit touches in the time ahead, where it touched some before.
//
// Whoever is touched, before or ahead, may as well have come in the one time as in the
// other. So the number ahead is that of tails before one more head than were seen, of a
// coin that falls on heads as often as the time before is long. One more key is taken as
// seen, for the limit was fitted to what was seen: one of two numbers touches two of the
// busiest keys just not, and one of one number was seen to need it as well.
type future struct{ sums []float64 } // the probability of at most 0, 1, 2… keys

func newFuture(touched int) future {
	s, sum := float64(touched+1), 0.0
	var f future
	logHeads, logTails := math.Log(fitShare), math.Log(1-fitShare)
	whole, _ := math.Lgamma(s + 1)
	for k := 0.0; sum < 0.9999 && k < 100+4*s; k++ {
		top, _ := math.Lgamma(s + k + 1)
		bottom, _ := math.Lgamma(k + 1)
		sum += math.Exp(top - bottom - whole + (s+1)*logHeads + k*logTails)
		f.sums = append(f.sums, sum)
	}
	return f
}

// keys returns how many there are with a probability.
func (f future) keys(p float64) int {
	n, _ := slices.BinarySearch(f.sums, p)
	return n
}

// upperKeys is how many keys are touched at most, with confidence, for each key before.
func upperKeys(touched int) float64 {
	return float64(newFuture(touched).keys(confidence)) / ahead
}

// severity is how many requests keys lose that a limit touches. That is taken to be
// exponential, as it is where keys get fewer and fewer the busier they are.
type severity struct {
	keys int
	lost float64 // by all
}

// draw returns a mean that they may lose, as far as so few can tell.
func (s severity) draw(source *rand.Rand) float64 {
	gamma := 0.0
	for range s.keys {
		gamma += source.ExpFloat64()
	}
	return s.lost / gamma
}

// upperLost is how many requests a limit refuses at most, with confidence, for each request
// before.
func upperLost(touched int, each severity, seed uint64) float64 {
	if each.keys == 0 {
		return upperKeys(touched)
	}
	f, source := newFuture(touched), rand.New(rand.NewPCG(seed, 0xf07))
	futures := make([]float64, drawnFutures)
	for i := range futures {
		mean := each.draw(source)
		for range f.keys(source.Float64()) {
			futures[i] += mean * source.ExpFloat64()
		}
	}
	return quantile(futures) / ahead
}
