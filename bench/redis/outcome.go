package redis

import (
	"fmt"

	"github.com/sluice-limiter/sluice/bench/frame"
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
			f.Note = frame.Join(f.Note, frame.Percent(share)+" % "+what)
			f.Counts = f.Counts && share <= tolerated
		}
	}
	remark(e.tally.errors, fmt.Sprintf("errors, such as %q", fmt.Sprint(e.tally.first)))
	if want == allAdmitted {
		remark(e.tally.denied, "denied")
	}
	f.Note = frame.Join(f.Note, v.why)
	return f
}
