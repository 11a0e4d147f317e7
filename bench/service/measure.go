package service

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// batch is the number of operations between two looks at the clock.
const batch = 512

// entrant is one thing to measure.
type entrant struct {
	name string
	run  func(n int) // does n operations
	note string

	rounds []float64 // nanoseconds per operation
	allocs float64   // per operation
}

// ns is the median over the rounds.
func (e *entrant) ns() float64 { return frame.Median(e.rounds) }

// interleave measures the entrants round by round, after one that only warms up.
func interleave(es []*entrant, cfg frame.Config, r *rand.Rand) {
	order := slices.Clone(es)
	for _, e := range order {
		e.measure(cfg.Time / 3)
		e.allocs = e.countAllocs()
	}
	for range cfg.Rounds {
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for _, e := range order {
			runtime.GC()
			e.rounds = append(e.rounds, e.measure(cfg.Time))
		}
	}
}

// measure runs the entrant for about d, in short batches, and returns nanoseconds per
// operation of the one that is slower than a tenth of them. Whatever else the machine does
// only adds to a batch, so the quick ones tell what the work takes; a collection of garbage
// counts for nobody, which is in favour of those that leave much of it.
func (e *entrant) measure(d time.Duration) float64 {
	var batches []time.Duration
	for begin := time.Now(); len(batches) == 0 || time.Since(begin) < d; {
		start := time.Now()
		e.run(batch)
		batches = append(batches, time.Since(start))
	}
	slices.Sort(batches)
	return float64(batches[len(batches)/10].Nanoseconds()) / batch
}

// countAllocs returns allocations per operation.
func (e *entrant) countAllocs() float64 {
	const n = 20 * batch
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.run(n)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / n
}
