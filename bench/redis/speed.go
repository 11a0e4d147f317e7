package redis

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// fillTime bounds how long a contestant may take to write all keys before the
// rounds. The slowest ones do not get through; they do not reach many of the
// keys in the rounds either.
const fillTime = 3 * time.Second

// crowds are the numbers of callers in the cases of speed.
var crowds = []int{1, 16, 128}

func speedNames(group string) []string {
	var names []string
	for _, n := range crowds {
		names = append(names, speedName(group, n))
	}
	return names
}

func speedName(group string, callers int) string { return fmt.Sprintf("%s-c%d", group, callers) }

// speed runs the cases with a number of keys over all contestants.
func (r *Runner) speed(group string, n int, picked []string) error {
	es, err := r.enter(r.contestants, roomy)
	if err != nil {
		return err
	}
	defer leave(es)
	keys := makeKeys(n)
	for _, e := range es {
		if n > 1 {
			r.say("%s: filling %s", group, e.Name)
			load{callers: 128, keys: keys}.forEntrant(e).fill(e.limiter, fillTime)
		}
	}
	for _, callers := range crowds {
		name := speedName(group, callers)
		if !slices.Contains(picked, name) {
			continue
		}
		if err := r.interleave(name, es, load{callers: callers, keys: keys, every: 1}, r.cfg.Rounds); err != nil {
			return err
		}
		r.addSpeed(name, n, callers, es)
	}
	return nil
}

// addSpeed reports a case: decisions per second with a table, the other figures
// as cases of their own without one.
func (r *Runner) addSpeed(name string, keys, callers int, es []*entrant) {
	// A lone caller is compared with a lone script, a crowd with the most that
	// a client can get out of the server.
	floor := floorRueidis
	if callers >= 128 {
		floor = floorBatch
	}
	rate := Result{
		Case: name, Title: fmt.Sprintf("callers %d, keys %d, always allowed", callers, keys), Unit: "decisions/s",
		Columns: []string{"p50 µs", "p99 µs", "Redis CPU µs"},
	}
	rate.Figures = r.figures(es, floor, func(e *entrant) []float64 { return e.rate })
	for i, e := range ordered(es, floor) {
		rate.Figures[i].Cells = []string{
			number(frame.Median(e.p50), true), number(frame.Median(e.p99), true), number(frame.Median(e.cpu), true),
		}
	}
	p50, p99, cpu := r.side(name, "p50", "µs", es, func(e *entrant) []float64 { return e.p50 }),
		r.side(name, "p99", "µs", es, func(e *entrant) []float64 { return e.p99 }),
		r.side(name, "cpu", "µs of Redis per decision", es, func(e *entrant) []float64 { return e.cpu })
	addBars(callers, keys, &rate, &p50, &p99, &cpu)
	for _, res := range []Result{rate, p50, p99, cpu} {
		r.add(res)
	}
}

// side is a further figure of a case. Its floor is the lone script, since the
// times of a batch are not those of a decision.
func (r *Runner) side(name, what, unit string, es []*entrant, get func(*entrant) []float64) Result {
	return Result{
		Case: name + "-" + what, Unit: unit, Lower: true, NoTable: true,
		Figures: r.figures(es, floorRueidis, get),
	}
}

// ordered puts the floor that counts before the others.
func ordered(es []*entrant, floor string) []*entrant {
	out := slices.Clone(es)
	slices.SortStableFunc(out, func(a, b *entrant) int {
		switch {
		case a.Name == floor && b.Name != floor:
			return -1
		case b.Name == floor && a.Name != floor:
			return 1
		}
		return 0
	})
	return out
}

// figures sums the entrants up, in the order of ordered.
func (r *Runner) figures(es []*entrant, floor string, get func(*entrant) []float64) []Figure {
	var fs []Figure
	for _, e := range ordered(es, floor) {
		f := r.figure(e, allAdmitted)
		f.Value = frame.Median(get(e))
		fs = append(fs, f)
	}
	return fs
}

// addBars adds the marks of the cases of speed.
func addBars(callers, keys int, rate, p50, p99, cpu *Result) {
	switch callers {
	case 1:
		p50.bar("p50 against the raw script", ratioTo(sameClient), 1.15, true)
	case 128:
		overBest := 1.5
		if keys > 1 {
			overBest = 1.7
		}
		rate.bar("against the best peer", Result.toBest, overBest, false)
		rate.bar("against "+peerRedisRate, ratioTo(peerRedisRate), 3, false)
		rate.bar("against the raw batches", ratioTo(floorBatch), 0.6, false)
		p99.bar("p99 against "+peerRueidisLimiter, ratioTo(peerRueidisLimiter), 1, true)
		cpu.bar("Redis CPU against the best peer", Result.toBest, 0.65, true)
	}
}

// bar adds a mark if both sides of the ratio are there.
func (r *Result) bar(what string, get func(Result) (float64, bool), want float64, atMost bool) {
	if got, ok := get(*r); ok {
		r.Bars = append(r.Bars, Bar{What: what, Got: got, Want: want, AtMost: atMost})
	}
}

// toBest is the ratio of our figure to that of the best peer.
func (r Result) toBest() (float64, bool) {
	our, ok := r.figure(Ours)
	best, found := r.best()
	return our.Value / best.Value, ok && found && best.Value > 0
}

// ratioTo is the ratio of our figure to that of another contestant.
func ratioTo(name string) func(Result) (float64, bool) {
	return func(r Result) (float64, bool) {
		our, ok := r.figure(Ours)
		other, found := r.named(name)
		return our.Value / other.Value, ok && found && other.Value > 0
	}
}
