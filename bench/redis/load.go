package redis

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// tally counts the outcomes of decisions.
type tally struct {
	admitted, denied, errors int64
	first                    error // of the errors
}

func (t tally) total() int64 { return t.admitted + t.denied + t.errors }

func (t *tally) add(o tally) {
	t.admitted += o.admitted
	t.denied += o.denied
	t.errors += o.errors
	t.first = cmp.Or(t.first, o.first)
}

// count notes the outcome of a call about n keys.
func (t *tally) count(n, admitted int, err error) {
	if err != nil {
		t.errors += int64(n)
		t.first = cmp.Or(t.first, err)
		return
	}
	t.admitted += int64(admitted)
	t.denied += int64(n - admitted)
}

// load is what the callers do: each asks about keys drawn at random, one call
// after the other.
type load struct {
	callers int
	batch   int // keys per call
	keys    []string
	seed    uint64
	// every is how many calls there are between two whose time is taken, so
	// that reading the clock does not slow down limiters which answer without
	// asking Redis.
	every int
	// lead is how long the callers ask before a round is measured.
	lead time.Duration
}

// outcome is what came of a load.
type outcome struct {
	tally
	elapsed time.Duration
	times   histogram
}

// run lets the callers ask for about d.
func (l load) run(lim Limiter, d time.Duration) *outcome {
	var stop atomic.Bool
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	return l.gather(func(i int) *outcome { return l.ask(lim, i, &stop) })
}

// gather runs all callers and sums up what they found.
func (l load) gather(caller func(i int) *outcome) *outcome {
	var wg sync.WaitGroup
	parts := make([]*outcome, l.callers)
	begin := time.Now()
	for i := range l.callers {
		wg.Go(func() { parts[i] = caller(i) })
	}
	wg.Wait()
	all := &outcome{elapsed: time.Since(begin)}
	for _, p := range parts {
		all.add(p.tally)
		all.times.merge(&p.times)
	}
	return all
}

// ask is one caller.
func (l load) ask(lim Limiter, i int, stop *atomic.Bool) *outcome {
	var (
		out   outcome
		ctx   = context.Background()
		rng   = rand.New(rand.NewPCG(l.seed, uint64(i)))
		batch = make([]string, l.batch)
		base  = time.Now()
	)
	for call := 0; !stop.Load(); call++ {
		l.draw(rng, batch)
		if call%l.every != 0 {
			n, err := lim.Take(ctx, batch)
			out.count(l.batch, n, err)
			continue
		}
		begin := time.Since(base)
		n, err := lim.Take(ctx, batch)
		out.times.add(time.Since(base) - begin)
		out.count(l.batch, n, err)
	}
	return &out
}

func (l load) draw(rng *rand.Rand, batch []string) {
	for j := range batch {
		if len(l.keys) == 1 {
			batch[j] = l.keys[0]
			continue
		}
		batch[j] = l.keys[rng.IntN(len(l.keys))]
	}
}

// fill asks once about each key, for at most d, and returns the outcomes.
func (l load) fill(lim Limiter, d time.Duration) tally {
	var next atomic.Int64
	ctx, begin := context.Background(), time.Now()
	return l.gather(func(int) *outcome {
		var out outcome
		for time.Since(begin) < d {
			to := int(next.Add(int64(l.batch)))
			if to > len(l.keys) {
				break
			}
			n, err := lim.Take(ctx, l.keys[to-l.batch:to])
			out.count(l.batch, n, err)
		}
		return &out
	}).tally
}
