package local

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// batch is the number of decisions between two looks at the clock.
const batch = 1024

// step makes one batch of decisions.
type step func() Tally

// entrant is a contestant that has been built for a case.
type entrant struct {
	Contestant
	// worker returns the step of the i-th of n goroutines.
	worker func(i, n int) step
	close  func()
	keyed  bool
	rounds []float64 // nanoseconds per decision
	tally  Tally
}

// singleEntrant asks one limiter.
func singleEntrant(c Contestant, q Quota) *entrant {
	s := c.NewSingle(q)
	return &entrant{
		Contestant: c,
		worker:     func(int, int) step { return func() Tally { return s.Run(batch) } },
		close:      func() { closeAny(s) },
	}
}

// keyedEntrant fills a table with keys and walks the sequence; every goroutine
// starts at another place of it.
func keyedEntrant(c Contestant, q Quota, keys int, seq string) *entrant {
	k := c.NewKeyed(q, keys)
	fill(k, keys)
	return &entrant{
		Contestant: c,
		keyed:      true,
		worker:     func(i, n int) step { return walk(k, seq, i, n) },
		close:      func() { closeAny(k) },
	}
}

func walk(k Keyed, seq string, i, n int) step {
	const width = batch * KeyLen
	steps := len(seq) / width
	at := steps * i / n
	return func() Tally {
		part := seq[at*width : (at+1)*width]
		if at++; at == steps {
			at = 0
		}
		return k.Run(part)
	}
}

// measure runs the entrant on the given number of goroutines for about d and
// returns the wall time per decision in nanoseconds.
func (e *entrant) measure(workers int, d time.Duration) (float64, Tally) {
	var (
		stop  atomic.Bool
		ready sync.WaitGroup
		done  sync.WaitGroup
		start = make(chan struct{})
		parts = make([]Tally, workers)
	)
	ready.Add(workers)
	for i := range workers {
		done.Go(func() {
			s := e.worker(i, workers)
			ready.Done()
			<-start
			parts[i] = runUntil(s, &stop, i == 0, d)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	done.Wait()
	elapsed := time.Since(begin)
	var t Tally
	for _, p := range parts {
		t.add(p)
	}
	return float64(elapsed.Nanoseconds()) / float64(t.Total()), t
}

// runUntil repeats the step until the leader has seen the time pass.
func runUntil(s step, stop *atomic.Bool, leader bool, d time.Duration) (t Tally) {
	begin := time.Now()
	for !stop.Load() {
		t.add(s())
		if leader && time.Since(begin) >= d {
			stop.Store(true)
		}
	}
	return t
}

// interleave measures the entrants round by round in a new order each time,
// after one round that only warms up. No collection runs during a round, which
// flatters those who allocate; what a round leaves behind is collected before
// the next.
func interleave(es []*entrant, workers, rounds int, d time.Duration, r *rand.Rand, say func(string)) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	order := slices.Clone(es)
	var gc collector
	gc.run()
	for _, e := range order {
		e.measure(workers, d/3)
		gc.runIfNeeded()
	}
	for i := range rounds {
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for _, e := range order {
			gc.runIfNeeded()
			ns, t := e.measure(workers, d)
			e.rounds = append(e.rounds, ns)
			e.tally.add(t)
		}
		say(roundLabel(i+1, rounds))
	}
}

// collector collects garbage once enough of it has been made. Marking several
// gigabytes of everybody's keys between all rounds would take longer than the
// rounds.
type collector struct{ at uint64 }

const collectAfter = 256 << 20

func (c *collector) run() {
	runtime.GC()
	c.at = allocatedBytes()
}

func (c *collector) runIfNeeded() {
	if allocatedBytes()-c.at > collectAfter {
		c.run()
	}
}
