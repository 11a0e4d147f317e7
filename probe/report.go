package probe

import (
	"cmp"
	"math"
	"slices"
)

// Report is what is known of a target.
type Report struct {
	// Capacity is how many calls per second hold the goal, the middle of what the repeats
	// found, and 0 if that is not known.
	Capacity float64

	// Low and High are the range of the repeats: from the lowest rate that held just below
	// a knee to the highest that did not hold just above one. Five repeats have the true
	// middle between them in about 94 of 100 cases. High is +Inf if every rate held.
	Low, High float64

	Goal    Goal
	Knees   []Knee // one for each repeat that came to its end
	Steps   []Step // in the order in which they were made
	Calls   int64
	Stopped string // why the search ended early; empty if it did not
}

// Knee is where a target bends: one rate that held, and one a little above that did not.
type Knee struct {
	Held  float64
	Broke float64
}

func (k Knee) middle() float64 { return math.Sqrt(k.Held * k.Broke) }

// conclude works out the capacity from what was found so far.
func (r *Report) conclude(most float64) {
	if len(r.Knees) == 0 {
		r.Low, r.High = r.bounds()
		return
	}
	var middles []float64
	r.Low, r.High = math.Inf(1), 0
	for _, k := range r.Knees {
		r.Low, r.High = min(r.Low, k.Held), max(r.High, k.Broke)
		if k.Held > 0 && !math.IsInf(k.Broke, 1) {
			middles = append(middles, k.middle())
		}
	}
	switch {
	case len(middles) > 0:
		slices.Sort(middles)
		n := len(middles)
		r.Capacity = (middles[(n-1)/2] + middles[n/2]) / 2
	case r.Low >= most: // everything held
		r.Capacity = most
	}
}

// bounds returns the highest rate that held and the lowest above it that did not.
func (r *Report) bounds() (low, high float64) {
	high = math.Inf(1)
	for _, s := range r.Steps {
		if s.Held {
			low = max(low, s.Rate)
		}
	}
	for _, s := range r.Steps {
		if !s.Held && !s.Late && s.Rate > low {
			high = min(high, s.Rate)
		}
	}
	return low, high
}

// Curve returns the steps in the order of their rates, without those for which this
// machine was too slow; of steps at the same rate the last counts.
func (r *Report) Curve() []Step {
	steps := slices.DeleteFunc(slices.Clone(r.Steps), func(s Step) bool { return s.Late })
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Rate, b.Rate) })
	var curve []Step
	for _, s := range steps {
		if n := len(curve); n > 0 && curve[n-1].Rate == s.Rate {
			curve[n-1] = s
			continue
		}
		curve = append(curve, s)
	}
	return curve
}
