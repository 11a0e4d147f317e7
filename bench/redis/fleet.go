package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The fleet: instances with leases that share one limit, each under more load
// than the limit allows.
const (
	fleetSize    = 8
	fleetCallers = 2 // of each instance
	// fleetBatch is the number of decisions whose instants the log does not
	// tell apart.
	fleetBatch = 64
	fleetKey   = "a-key-of-16-byte"
)

// fleetLog is what a fleet did.
type fleetLog struct {
	tally
	log     []admission
	elapsed time.Duration
	used    stats
}

// fleet lets the instances press on the shared limit. The first part of the run
// spends the burst; the share of the limit is that of the rest.
func (r *Runner) fleet([]string) error {
	c := oursLeased()
	ls := make([]Limiter, 0, fleetSize)
	defer func() {
		for _, l := range ls {
			l.Close()
		}
	}()
	for range fleetSize {
		l, err := c.Open(r.server.env(0), shared)
		if err != nil {
			return err
		}
		ls = append(ls, l)
	}
	base := time.Now()
	warm, err := r.press(ls, base, max(r.cfg.Time/2, time.Millisecond))
	if err != nil {
		return err
	}
	run, err := r.press(ls, base, time.Duration(r.cfg.Rounds)*r.cfg.Time)
	if err != nil {
		return err
	}
	r.add(fleetResult(c, warm, run))
	return nil
}

func fleetResult(c Contestant, warm, run fleetLog) Result {
	rate := float64(shared.Count) / shared.Period.Seconds()
	excess := worstExcess(slices.Concat(warm.log, run.log), rate)
	overshoot := max(0, excess-float64(shared.Burst))
	share := float64(run.admitted) / (rate * run.elapsed.Seconds())
	scripts := float64(run.used.scripts) / float64(max(run.admitted, 1))
	res := Result{
		Case: "lease-fleet", Unit: "% of the limit admitted",
		Title: fmt.Sprintf("%d instances with leases share %d/s, burst %d, saturating load", fleetSize, shared.Count, shared.Burst),
		Figures: []Figure{{
			Name: c.Name, Kind: Ours, Value: 100 * share, Counts: overshoot == 0 && run.errors == 0,
		}},
		Extra: []Field{
			{"overshoot", number(overshoot, true)},
			{"burst_used", number(excess, true)},
			{"admitted_per_script", number(1/scripts, run.used.scripts > 0)},
			{"commands_inside_too_per_admitted", fmt.Sprintf("%.4f", float64(run.used.commands)/float64(max(run.admitted, 1)))},
			{"decisions/s", number(float64(run.total())/run.elapsed.Seconds(), true)},
			{"errors", fmt.Sprint(warm.errors + run.errors)},
		},
	}
	if first := cmp.Or(warm.first, run.first); first != nil {
		res.Figures[0].Note = fmt.Sprintf("errors such as %q", first.Error())
	}
	res.Bars = []Bar{
		{What: "overshoot", Got: overshoot, AtMost: true},
		{What: "% of the limit admitted", Got: 100 * share, Want: 98},
		{What: "Redis commands per admitted request", Got: scripts, Want: 0.02, AtMost: true},
	}
	return res
}

// press loads all instances for about d and logs what they admit.
func (r *Runner) press(ls []Limiter, base time.Time, d time.Duration) (fleetLog, error) {
	var (
		out  fleetLog
		mu   sync.Mutex
		wg   sync.WaitGroup
		stop atomic.Bool
	)
	before, err := r.server.stats()
	if err != nil {
		return out, err
	}
	begin := time.Now()
	time.AfterFunc(d, func() { stop.Store(true) })
	for _, l := range ls {
		for range fleetCallers {
			wg.Go(func() {
				t, log := pressOn(l, base, &stop)
				mu.Lock()
				defer mu.Unlock()
				out.add(t)
				out.log = append(out.log, log...)
			})
		}
	}
	wg.Wait()
	out.elapsed = time.Since(begin)
	after, err := r.server.stats()
	out.used = after.minus(before)
	return out, err
}

// pressOn is one caller.
func pressOn(l Limiter, base time.Time, stop *atomic.Bool) (t tally, log []admission) {
	ctx := context.Background()
	keys := slices.Repeat([]string{fleetKey}, fleetBatch)
	begin := time.Since(base)
	for !stop.Load() {
		n, err := l.Take(ctx, keys)
		end := time.Since(base)
		t.count(len(keys), n, err)
		if n > 0 {
			log = append(log, admission{begin.Seconds(), end.Seconds(), int64(n)})
		}
		begin = end
	}
	return t, log
}
