package recommend

import "testing"

// TestTailsOfCosts: where requests cost as much as they have bytes, keys are far out where
// they are by the number of requests.
func TestTailsOfCosts(t *testing.T) {
	tails := func(cost int64) [len(scales)]tail {
		var keys []peaks
		for i := range int64(1000) {
			peak := cost * (100_000 / (1000 - i))
			keys = append(keys, peaks{peak, 10 * peak, 100 * peak, 1000 * peak})
		}
		return fitTails(keys)
	}
	const bytes = 1 << 20
	for i, one := range tails(1) {
		far := float64(tails(bytes)[i].far)
		if ratio := far / float64(one.far); ratio < 0.999*bytes || ratio > 1.001*bytes {
			t.Errorf("in %d periods: %g, %g times that of single requests", scales[i], far, ratio)
		}
	}
}
