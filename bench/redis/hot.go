package redis

import (
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// hotCallers is the number of callers on the hot keys.
const hotCallers = 128

// hotEvery is how many decisions there are between two whose time is taken,
// where decisions are made in the process.
const hotEvery = 64

// hotDenied asks for a key far beyond its limit. What was refilled since the last
// round is spent before a round is measured.
func (r *Runner) hotDenied([]string) error {
	lineup := append([]Contestant{oursPlain(), oursUncached()}, r.peers()...)
	es, err := r.enter(lineup, hundred)
	if err != nil {
		return err
	}
	defer leave(es)
	l := load{callers: hotCallers, keys: makeKeys(1), every: hotEvery, lead: r.cfg.Time / 10}
	if err := r.interleave("hot-denied", es, l, r.cfg.Rounds); err != nil {
		return err
	}
	res := Result{
		Case: "hot-denied", Title: fmt.Sprintf("one key limited to 100/s, callers %d", hotCallers), Unit: "decisions/s",
		Columns: []string{"scripts/s", "admitted/s", "p99 µs"},
	}
	for _, e := range es {
		f := r.figure(e, mostDenied)
		f.Value = frame.Median(e.rate)
		admitted := float64(e.tally.admitted) / e.elapsed.Seconds()
		f.Cells = []string{number(frame.Median(e.scripts), true), number(admitted, true), number(frame.Median(e.p99), true)}
		res.Figures = append(res.Figures, f)
		if e.Kind != Ours {
			continue
		}
		// Every round may find a full bucket.
		most := float64(int64(r.cfg.Rounds)*hundred.Burst) + float64(hundred.Count)*e.elapsed.Seconds()
		res.Extra = []Field{
			{"scripts/s", number(frame.Median(e.scripts), true)},
			{"admitted", fmt.Sprint(e.tally.admitted)},
			{"at_most", number(most, true)},
		}
		res.Bars = []Bar{
			{What: "decisions/s", Got: f.Value, Want: 5e6},
			{What: "EVALSHA/s", Got: frame.Median(e.scripts), Want: 300, AtMost: true},
			{What: "admitted", Got: float64(e.tally.admitted), Want: most, AtMost: true},
		}
	}
	r.add(res)
	return nil
}

// hotLeased asks for a key that is always allowed, with tokens taken ahead.
func (r *Runner) hotLeased([]string) error {
	lineup := []Contestant{oursLeased()}
	for _, c := range r.peers() {
		if c.Name == peerVearne {
			lineup = append(lineup, c)
		}
	}
	es, err := r.enter(lineup, plenty)
	if err != nil {
		return err
	}
	defer leave(es)
	if err := r.interleave("lease-one", es, load{callers: hotCallers, keys: makeKeys(1), every: hotEvery}, r.cfg.Rounds); err != nil {
		return err
	}
	res := Result{
		Case: "lease-one", Title: fmt.Sprintf("one key with leases, one instance, callers %d, always allowed", hotCallers),
		Unit: "decisions/s", Columns: []string{"scripts/s", "p50 µs", "p99 µs"},
	}
	for _, e := range es {
		f := r.figure(e, allAdmitted)
		f.Value = frame.Median(e.rate)
		f.Cells = []string{number(frame.Median(e.scripts), true), number(frame.Median(e.p50), true), number(frame.Median(e.p99), true)}
		res.Figures = append(res.Figures, f)
		if e.Kind == Ours {
			res.Extra = []Field{{"scripts/s", number(frame.Median(e.scripts), true)}}
			res.Bars = []Bar{{What: "decisions/s", Got: f.Value, Want: 5e6}}
		}
	}
	r.add(res)
	return nil
}

// peers are the picked contestants that are peers.
func (r *Runner) peers() []Contestant {
	return slices.DeleteFunc(slices.Clone(r.contestants), func(c Contestant) bool { return c.Kind != Peer })
}
