package main

import (
	"math"
	"testing"
	"time"
)

const (
	µs = time.Microsecond
	ms = time.Millisecond
)

// TestPromises: no attack gets more through than the formula says, and some
// attack gets exactly that; with weighted windows at most one less.
func TestPromises(t *testing.T) {
	slack := map[int]int{2: 1}
	for i, p := range promises {
		for j, got := range worst(p.contender, spans()) {
			span := spans()[j]
			if p.head == "sliding_window, weighted" && span > time.Second {
				break // the formula ends here
			}
			most := int(p.most(span) + 1e-9)
			if got > most || got < most-slack[i] {
				t.Errorf("%s: %d within %v, want %d", p.head, got, span, most)
			}
		}
	}
}

// TestPromisesInWords checks the bounds that the text gives for one period.
func TestPromisesInWords(t *testing.T) {
	for _, c := range []struct {
		limit string
		span  time.Duration
		want  int
	}{
		{"fixed_window 10/s", 2 * µs, 20},
		{"fixed_window 10/s start=first_hit", 2 * µs, 19},
		{"sliding_window 10/s", 900 * ms, 10},
		{"sliding_window 10/s", time.Second, 20},
		{"sliding_window 10/s weighted", time.Second, 19},
		{"sliding_log 10/s", time.Second, 10},
		{"token_bucket 10/s burst=1", time.Second, 10},
		{"token_bucket 10/s", 1, 10},
		{"token_bucket 10/s", time.Second + µs, 20},
		{"token_bucket 10/s refill=interval", 2 * µs, 19},
	} {
		if got := worst(contender{c.limit, false}, []time.Duration{c.span})[0]; got != c.want {
			t.Errorf("%s: at most %d within %v, want %d", c.limit, got, c.span, c.want)
		}
	}
}

// TestBucketNumbers checks when requests leave.
func TestBucketNumbers(t *testing.T) {
	for i, want := range []int{16, 26, 17} {
		r := bucketRows[i]
		out := play(r.limit, bucketTraffic(), r.wait)
		if got := admitted(out); got != want {
			t.Errorf("%s: %d go ahead, want %d", r.head, got, want)
		}
		if name(r.limit) == "leaky_bucket" && peak(out, 100*ms) != 1 {
			t.Errorf("%s: two within 100 ms", r.head)
		}
		if name(r.limit) == "token_bucket" && peak(out, 100*ms) != 10 {
			t.Errorf("%s: no burst of 10", r.head)
		}
	}
}

// TestRefillNumbers: by interval, 8 pass in a row and none between.
func TestRefillNumbers(t *testing.T) {
	smooth := play(refillRows[0].limit, refillTraffic(), false)
	interval := play(refillRows[1].limit, refillTraffic(), false)
	if admitted(smooth) != 36 || admitted(interval) != 31 {
		t.Errorf("%d and %d go ahead, want 36 and 31", admitted(smooth), admitted(interval))
	}
	for i, o := range interval {
		if want := o.came < 1600*ms || o.came >= 2400*ms; i < 16 && o.allowed != want {
			t.Errorf("at %v: allowed %v", o.came, o.allowed)
		}
	}
}

// TestWarmUpFormula compares the pace with the closed form in the text: from
// cold, after t under full load, one request takes √(c² − (c² − s²)·t/w).
func TestWarmUpFormula(t *testing.T) {
	const s, c, w = 0.01, 0.03, 10.0
	out := saturate(warmLimit, warmLoads)
	for _, p := range pace(out, warmLoads[0]) {
		want := 1 / s
		if at := p.at.Seconds(); at < w {
			want = 1 / math.Sqrt(c*c-(c*c-s*s)*at/w)
		}
		if math.Abs(p.value-want) > 0.02*want {
			t.Errorf("after %v: %.1f per second, want %.1f", p.at, p.value, want)
		}
	}
	for i, want := range []float64{33.9, 100, 46.3, 33.9} {
		if got := pace(out, warmLoads[i])[0].value; math.Abs(got-want) > 0.5 {
			t.Errorf("after pause %d: %.1f per second, want %.1f", i, got, want)
		}
	}
}

// TestWarmUpRest: what is at rest for at most w·(1+c)/(5+c) stays warm, and
// after w it is as cold as at first.
func TestWarmUpRest(t *testing.T) {
	for _, c := range []struct{ rest, want time.Duration }{
		{5 * time.Second, 10 * ms}, {5100 * ms, 10400 * µs}, {10 * time.Second, 30 * ms}, {time.Minute, 30 * ms},
	} {
		w := newWorld(warmLimit)
		for w.now < 30*time.Second {
			w.now += w.limiter.Reserve().Delay()
		}
		w.now += w.limiter.Peek().ResetAfter() + c.rest
		w.limiter.Reserve()
		if got := w.limiter.Reserve().Delay(); (got - c.want).Abs() > 100*µs {
			t.Errorf("after %v at rest the next one waits for %v, want %v", c.rest, got, c.want)
		}
	}
}
