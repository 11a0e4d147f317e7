package redis

import (
	"fmt"
	"math"
)

// expectation says which outcome a case is about.
type expectation int

const (
	allAdmitted expectation = iota
	mostDenied
)

// tolerated is the share of unwanted outcomes up to which a figure counts.
const tolerated = 0.01

// figure sums an entrant up and says where its outcomes were not those that
// the case is about. The value is filled in by the caller.
func (r *Runner) figure(e *entrant, want expectation) Figure {
	v := r.verdict(e.Contestant)
	f := Figure{Name: e.Name, Kind: e.Kind, Note: e.Note, Counts: v.exact}
	total := float64(max(e.tally.total(), 1))
	remark := func(n int64, what string) {
		if share := float64(n) / total; n > 0 {
			f.Note = join(f.Note, percent(share)+" % "+what)
			f.Counts = f.Counts && share <= tolerated
		}
	}
	remark(e.tally.errors, fmt.Sprintf("errors, such as %q", fmt.Sprint(e.tally.first)))
	if want == allAdmitted {
		remark(e.tally.denied, "denied")
	}
	f.Note = join(f.Note, v.why)
	return f
}

// percent prints a share with two significant digits, so that a rare event is
// not rounded away.
func percent(share float64) string {
	p := 100 * share
	digits := 0
	for p > 0 && p*math.Pow10(digits) < 10 && digits < 6 {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, p)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
