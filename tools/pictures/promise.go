package main

import (
	"fmt"
	"slices"
	"time"
)

// promises are limits of 10 per second and the most that each can admit within
// any interval of length Δ, as a formula.
var promises = []struct {
	contender
	head, formula string
	most          func(span time.Duration) float64
}{
	{contender{"fixed_window 10/s", false}, "fixed_window", "N · (⌈Δ/p⌉ + 1)", fixedMost},
	{contender{"sliding_window 10/s sub_windows=10", false}, "sliding_window, n = 10", "N · ⌈(⌈nΔ/p⌉ + 1)/n⌉", slidingMost},
	{contender{"sliding_window 10/s weighted", false}, "sliding_window, weighted", "N + NΔ/p while Δ ≤ p", bucketMost},
	{contender{"sliding_log 10/s", false}, "sliding_log", "N · ⌈Δ/p⌉", logMost},
	{contender{"token_bucket 10/s burst=10", false}, "token_bucket, burst = N", "burst + NΔ/p", bucketMost},
	{contender{"leaky_bucket 10/s burst=40", true}, "leaky_bucket", "⌈NΔ/p⌉", leakyMost},
}

// ceil returns a/b rounded up.
func ceil(a, b time.Duration) float64 { return float64((a + b - 1) / b) }

func fixedMost(span time.Duration) float64 { return 10 * (ceil(span, time.Second) + 1) }

func slidingMost(span time.Duration) float64 {
	return 10 * ceil(time.Duration(ceil(span, 100*time.Millisecond))+1, 10)
}

func logMost(span time.Duration) float64 { return 10 * ceil(span, time.Second) }

func bucketMost(span time.Duration) float64 { return 10 + 10*span.Seconds() }

func leakyMost(span time.Duration) float64 { return ceil(span, 100*time.Millisecond) }

// attacks are ways to ask a limit of 10 per second so that as much as possible
// passes in a short time: greedily, from the last µs of a second or of a tenth of
// it on, after a single request a little less than a second before, or not.
func attacks() [][]time.Duration {
	var out [][]time.Duration
	for _, start := range []time.Duration{2 * time.Second, 2*time.Second - time.Microsecond, 2100*time.Millisecond - time.Microsecond} {
		instants := evenly(start, 2400, time.Millisecond)
		instants = append(instants, evenly(start+time.Microsecond, 2400, time.Millisecond)...)
		slices.Sort(instants)
		out = append(out, instants, append([]time.Duration{start - time.Second + time.Microsecond}, instants...))
	}
	return out
}

// attack asks at every instant until it is denied, but at the first instant only
// once if that lies apart from the others.
func attack(who contender, instants []time.Duration) []outcome {
	w := newWorld(who.limit)
	var out []outcome
	for i, at := range instants {
		w.now = at
		for {
			o := outcome{at, true, at}
			if who.wait {
				r := w.limiter.Reserve()
				o.allowed, o.leaves = r.OK(), at+r.Delay()
			} else {
				o.allowed = w.limiter.Allow()
			}
			if !o.allowed {
				break
			}
			out = append(out, o)
			if i == 0 && instants[1]-at > time.Millisecond {
				break
			}
		}
	}
	return out
}

// worst returns the most that any attack got through within each span.
func worst(who contender, spans []time.Duration) []int {
	most := make([]int, len(spans))
	for _, instants := range attacks() {
		out := attack(who, instants)
		for i, span := range spans {
			most[i] = max(most[i], peak(out, span))
		}
	}
	return most
}

// spans are the lengths that the picture shows: every 10 ms and a hair more,
// because a bound changes right after a round length.
func spans() []time.Duration { return evenly(2*time.Microsecond, 221, 10*time.Millisecond) }

func promise() *drawing {
	const wide, high, top, left = 222.0, 128.0, 132.0, 66.0
	d := draw(562, "What each algorithm can admit at worst",
		"Limits of N = 10 per p = 1 s, attacked on purpose: the most that went ahead within any interval of length Δ.",
		"Six charts of the largest number of requests admitted in any interval, by its length. Only the sliding log stays "+
			"at the limit up to a whole second; the leaky bucket stays at the rate.")
	d.legend(38, entry{"yes-line", "most admitted"}, entry{"limit", "10 per second"})
	for i, p := range promises {
		c := &chart{
			drawing: d, x: left + float64(i%3)*(wide+50), y: top + float64(i/3)*(high+108), w: wide, h: high,
			most: 40, to: 2200 * time.Millisecond,
		}
		d.text(c.x, c.y-30, "head", p.head)
		d.text(c.x, c.y-12, "mute", p.formula)
		unit := ""
		if i%3 == 0 {
			unit = "requests admitted"
		}
		c.values(10, unit)
		c.times(500*time.Millisecond, "Δ in seconds")
		c.line(c.at(0), c.up(0), c.at(c.to), c.up(22), "limit")
		var line []sample
		most := worst(p.contender, spans())
		for j, span := range spans() {
			line = append(line, sample{span, float64(most[j])})
		}
		c.steps("yes-line", line)
		second := worst(p.contender, []time.Duration{time.Second})[0]
		c.circle(c.at(time.Second), c.up(float64(second)), 4.5, "yes")
		c.text(c.at(time.Second)-8, c.up(float64(second))-8, "head end yes-text", fmt.Sprintf("%d in 1 s", second))
	}
	return d
}
