package main

import (
	"math/rand/v2"
	"time"

	"github.com/sluice-limiter/sluice"
)

// origin is where the virtual time of every picture begins: at the start of a
// window, whatever its period.
var origin = time.Unix(1_000_000_000, 0)

// A world is a limiter whose clock stands still until it is moved.
type world struct {
	now     time.Duration
	limiter *sluice.Limiter
}

func newWorld(limit string) *world {
	w := &world{}
	w.limiter = sluice.NewLimiter(sluice.MustParse(limit),
		sluice.WithClock(func() time.Time { return origin.Add(w.now) }))
	return w
}

// A contender is a limit and how it is asked: those that book the future let
// requests wait for their turn.
type contender struct {
	limit string
	wait  bool
}

// An outcome is what became of one request.
type outcome struct {
	came    time.Duration
	allowed bool
	leaves  time.Duration // when it goes ahead; when it came, if it was denied
}

// play sends requests of cost 1 to a limit. With wait they go ahead when the
// limit lets them; without, they go ahead now or never.
func play(limit string, arrivals []time.Duration, wait bool) []outcome {
	w := newWorld(limit)
	out := make([]outcome, 0, len(arrivals))
	for _, at := range arrivals {
		w.now = at
		o := outcome{came: at, leaves: at}
		if !wait {
			o.allowed = w.limiter.Allow()
		} else if r := w.limiter.Reserve(); r.OK() {
			o.allowed = true
			o.leaves += r.Delay()
		}
		out = append(out, o)
	}
	return out
}

// peak returns the largest number of requests that went ahead within any time
// span: those at e with t − span < e ≤ t, for any t.
func peak(out []outcome, span time.Duration) int {
	var left []time.Duration
	for _, o := range out {
		if o.allowed {
			left = append(left, o.leaves)
		}
	}
	most, first := 0, 0
	for i, t := range left {
		for left[first] <= t-span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func admitted(out []outcome) int {
	n := 0
	for _, o := range out {
		if o.allowed {
			n++
		}
	}
	return n
}

// evenly returns n instants from from on, one every step.
func evenly(from time.Duration, n int, step time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = from + time.Duration(i)*step
	}
	return out
}

// A phase is a part of some traffic: requests come by chance, on average rate
// per second.
type phase struct {
	until time.Duration
	rate  int
}

// random returns the requests of phases that follow each other. The seed makes
// them the same every time.
func random(seed uint64, phases ...phase) []time.Duration {
	r := rand.New(rand.NewPCG(seed, seed))
	var out []time.Duration
	const slot = time.Millisecond
	at := time.Duration(0)
	for _, p := range phases {
		for ; at < p.until; at += slot {
			if r.IntN(1000) < p.rate {
				out = append(out, at+time.Duration(r.IntN(1000))*time.Microsecond)
			}
		}
	}
	return out
}
