package compare

import "math"

// worst returns the most that one key got through within any time of a length: those at e
// with t − span < e ≤ t, for any t.
func worst(byKey [][]int64, span int64) int64 {
	most := 0
	for _, times := range byKey {
		first := 0
		for i, t := range times {
			for times[first] <= t-span {
				first++
			}
			most = max(most, i-first+1)
		}
	}
	return int64(most)
}

// maxBins bounds how finely smoothness is looked at in a long log.
const maxBins = 100_000

// unevenness is the coefficient of variation of how many went ahead per bin: their
// standard deviation by their mean. 0 is perfectly even.
func unevenness(byKey [][]int64, length, bin int64) float64 {
	counts := make([]float64, (length+bin-1)/bin)
	total := 0.0
	for _, times := range byKey {
		for _, at := range times {
			if i := at / bin; i < int64(len(counts)) { // some wait until the traffic is over
				counts[i]++
				total++
			}
		}
	}
	if total == 0 {
		return 0
	}
	mean := total / float64(len(counts))
	squares := 0.0
	for _, n := range counts {
		squares += float64((n - mean) * (n - mean))
	}
	return math.Sqrt(squares/float64(len(counts))) / mean
}

// longestRefusal is the longest time for which a key got nothing but denials: from the
// first of them to the last.
func longestRefusal(t *Traffic, out []outcome) int64 {
	since := make([]int64, len(t.keys)) // the first denial of a row; -1 if there is none
	for i := range since {
		since[i] = -1
	}
	longest := int64(0)
	for i, o := range out {
		switch key, at := t.requests[i].key, t.requests[i].at; {
		case o.allowed:
			since[key] = -1
		case since[key] < 0:
			since[key] = at
		default:
			longest = max(longest, at-since[key])
		}
	}
	return longest
}

// falselyDenied counts denials that the exact log would not have made: of the requests
// that came in the period before, it had admitted fewer than the limit says.
func falselyDenied(t *Traffic, out []outcome, most, period int64) (wrong int64) {
	admitted := make([][]int64, len(t.keys)) // when those of the last period came
	for i, o := range out {
		q := t.requests[i]
		recent := admitted[q.key]
		for len(recent) > 0 && recent[0] <= q.at-period {
			recent = recent[1:]
		}
		if o.allowed {
			recent = append(recent, q.at)
		} else if int64(len(recent)) < most {
			wrong++
		}
		admitted[q.key] = recent
	}
	return wrong
}

// trailing returns, for every step, the most that one key got through within a period that
// ends in the step.
func trailing(byKey [][]int64, length, step, period int64) []int64 {
	most := make([]int64, (length+step-1)/step)
	for _, times := range byKey {
		first := 0 // of those that are within the period
		for i, t := range times {
			for times[first] <= t-period {
				first++
			}
			// From here to the next one, or until all have left, the number only falls.
			until := t + period
			if i+1 < len(times) {
				until = min(until, times[i+1])
			}
			oldest := first
			for at := t; at < until && at < length; at = (at/step + 1) * step {
				for times[oldest] <= at-period {
					oldest++
				}
				most[at/step] = max(most[at/step], int64(i-oldest+1))
			}
		}
	}
	return most
}

// round leaves as many digits as say something, so that a report is the same on all
// machines.
func round(x float64) float64 { return math.Round(x*1000) / 1000 }
