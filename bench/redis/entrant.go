package redis

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// entrant is a contestant that has been opened for a case.
type entrant struct {
	Contestant
	limiter Limiter
	// The measured rounds: decisions per second, latencies and the server's
	// time per decision in µs, scripts per second.
	rate, p50, p99, cpu, scripts []float64
	tally                        tally
	elapsed                      time.Duration // of all measured rounds
}

// forget drops what was measured, before the next case.
func (e *entrant) forget() {
	*e = entrant{Contestant: e.Contestant, limiter: e.limiter}
}

// enter opens contestants, each in a database of its own.
func (r *Runner) enter(cs []Contestant, q Quota) ([]*entrant, error) {
	var es []*entrant
	for i, c := range cs {
		l, err := c.Open(r.server.env(i%databases), q)
		if err != nil {
			leave(es)
			return nil, fmt.Errorf("opening %s: %w", c.Name, err)
		}
		es = append(es, &entrant{Contestant: c, limiter: l})
	}
	return es, nil
}

// leave closes entrants.
func leave(es []*entrant) {
	for _, e := range es {
		e.limiter.Close()
	}
}

// forEntrant is the load as this entrant takes it.
func (l load) forEntrant(e *entrant) load {
	l.batch = max(e.Batch, 1)
	if e.MaxCallers > 0 {
		l.callers = min(l.callers, e.MaxCallers)
	}
	return l
}

// measure puts the load on an entrant for about d and notes what came of it.
func (r *Runner) measure(e *entrant, l load, d time.Duration) error {
	l = l.forEntrant(e)
	runtime.GC()
	if l.lead > 0 {
		l.run(e.limiter, l.lead)
	}
	before, err := r.server.stats()
	if err != nil {
		return err
	}
	out := l.run(e.limiter, d)
	after, err := r.server.stats()
	if err != nil {
		return err
	}
	used, total := after.minus(before), float64(max(out.total(), 1))
	e.rate = append(e.rate, total/out.elapsed.Seconds())
	e.p50 = append(e.p50, micros(out.times.quantile(0.5)))
	e.p99 = append(e.p99, micros(out.times.quantile(0.99)))
	e.cpu = append(e.cpu, used.cpu*1e6/total)
	e.scripts = append(e.scripts, float64(used.scripts)/out.elapsed.Seconds())
	e.tally.add(out.tally)
	e.elapsed += out.elapsed
	return nil
}

// interleave measures the entrants round by round, in a new order each time,
// after a short round that only warms up.
func (r *Runner) interleave(name string, es []*entrant, l load, rounds int) error {
	for _, e := range es {
		l.forEntrant(e).run(e.limiter, r.cfg.Time/10)
		e.forget()
	}
	order := slices.Clone(es)
	for i := range rounds {
		r.rand.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		l.seed = r.rand.Uint64()
		for _, e := range order {
			if err := r.measure(e, l, r.cfg.Time); err != nil {
				return err
			}
		}
		r.say("%s: round %d of %d", name, i+1, rounds)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// newRand returns the source of the order of the rounds.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
