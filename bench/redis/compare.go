package redis

import (
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// pairCase compares the library in one configuration with itself in another.
type pairCase struct {
	name, title string
	first       Contestant // Kind Ours
	second      Contestant // Kind Variant
	callers     int
	rounds      int // at least
	keys        int
}

func severalCases() []pairCase {
	var cs []pairCase
	for _, n := range []int{1, 128} {
		cs = append(cs, pairCase{
			name: fmt.Sprintf("three-limits-c%d", n), title: "three limits on one key against one",
			first: oursThreeLimits(), second: oursOneLimit(), callers: n, keys: 1,
		})
	}
	return cs
}

func coalescerCases() []pairCase {
	var cs []pairCase
	for _, n := range []int{1, 4, 16, 64, 128} {
		cs = append(cs, pairCase{
			name: fmt.Sprintf("coalescer-c%d", n), title: "coalescer on against off, 1,000 keys",
			first: oursPlain(), second: oursUncoalesced(), callers: n, keys: 1_000, rounds: 5,
		})
	}
	return cs
}

func pairNames(cs []pairCase) []string {
	var names []string
	for _, c := range cs {
		names = append(names, c.name)
	}
	return names
}

// pairs runs the picked cases; all of a list share their contestants.
func (r *Runner) pairs(cs []pairCase, picked []string, report func(pairCase, []*entrant) Result) error {
	es, err := r.enter([]Contestant{cs[0].first, cs[0].second}, roomy)
	if err != nil {
		return err
	}
	defer leave(es)
	for _, c := range cs {
		if !slices.Contains(picked, c.name) {
			continue
		}
		l := load{callers: c.callers, keys: makeKeys(c.keys), every: 1}
		if err := r.interleave(c.name, es, l, max(c.rounds, r.cfg.Rounds)); err != nil {
			return err
		}
		r.add(report(c, es))
	}
	return nil
}

// pairResult is what both reports have in common.
func (r *Runner) pairResult(c pairCase, es []*entrant) Result {
	res := Result{
		Case: c.name, Title: fmt.Sprintf("%s, callers %d", c.title, c.callers), Unit: "decisions/s",
		Columns: []string{"p50 µs", "p99 µs", "Redis CPU µs"},
	}
	for _, e := range es {
		f := r.figure(e, allAdmitted)
		f.Value = frame.Median(e.rate)
		f.Cells = []string{number(frame.Median(e.p50), true), number(frame.Median(e.p99), true), number(frame.Median(e.cpu), true)}
		res.Figures = append(res.Figures, f)
	}
	return res
}

func (r *Runner) reportSeveral(c pairCase, es []*entrant) Result {
	res := r.pairResult(c, es)
	three, one := es[0], es[1]
	time, cpu := frame.Median(one.rate)/frame.Median(three.rate), frame.Median(three.cpu)/frame.Median(one.cpu)
	res.Extra = []Field{
		{"one", number(frame.Median(one.rate), true)},
		{"cost", fmt.Sprintf("%.2f", time)},
		{"cpu_cost", fmt.Sprintf("%.2f", cpu)},
	}
	res.Bars = []Bar{{What: "time of three limits in times of one", Got: time, Want: 1.5, AtMost: true}}
	return res
}

func (r *Runner) reportCoalescer(c pairCase, es []*entrant) Result {
	res := r.pairResult(c, es)
	on, off := frame.Median(es[0].rate), frame.Median(es[1].rate)
	res.Extra = []Field{{"off", number(off, true)}, {"on/off", fmt.Sprintf("%.2f", on/off)}}
	res.Bars = []Bar{{What: "on against off", Got: on / off, Want: 0.95}}
	return res
}
