package rehearsal

import (
	"cmp"
	"slices"
	"time"
)

// span is when something was under way. Whatever was decided about a request was decided
// within the span that its client saw.
type span struct{ start, end time.Duration }

// slack is by how much a limiter's clock may lag behind that of the client.
const slack = 10 * time.Millisecond

// excess is by how much more was admitted in some interval than a bucket promises: burst +
// rate·Δ in any Δ. Only requests count that lie wholly within the interval, so that it never
// accuses wrongly; 0 and less is as promised. It looks at every interval that begins with a
// request and ends with one, and knows nothing of how the limiter works.
func excess(admitted []span, perSecond, burst int) int {
	byEnd := slices.SortedFunc(slices.Values(admitted), func(a, b span) int { return cmp.Compare(a.end, b.end) })
	worst := -burst
	for _, first := range admitted {
		inside := 0
		for _, s := range byEnd {
			if s.start < first.start {
				continue
			}
			inside++
			promised := burst + int((s.end-first.start+slack).Seconds()*float64(perSecond))
			worst = max(worst, inside-promised)
		}
	}
	return worst
}

// most is how many spans there are at the same time. One that ends when another begins does
// not meet it.
func most(spans []span) int {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, s := range spans {
		edges = append(edges, edge{s.start, 1}, edge{s.end, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	now, peak := 0, 0
	for _, e := range edges {
		now += e.step
		peak = max(peak, now)
	}
	return peak
}

// admittedBy returns the spans of requests for which pass is true, by whose budget they took.
func admittedBy(answers []answer, pass func(*answer) (budget string, ok bool)) map[string][]span {
	budgets := map[string][]span{}
	for i := range answers {
		if budget, ok := pass(&answers[i]); ok {
			budgets[budget] = append(budgets[budget], span{answers[i].start, answers[i].end})
		}
	}
	return budgets
}
