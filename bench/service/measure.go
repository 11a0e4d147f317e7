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
func interleave(es []*entrant, cfg Config, r *rand.Rand) {
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

// measure runs the entrant for about d and returns nanoseconds per operation.
func (e *entrant) measure(d time.Duration) float64 {
	var n int
	begin := time.Now()
	for time.Since(begin) < d {
		e.run(batch)
		n += batch
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(n)
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
