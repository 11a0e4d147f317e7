package main

import "time"

var refillRows = []struct{ limit, head string }{
	{"token_bucket 8/2s burst=8", "smooth: one token every 250 ms"},
	{"token_bucket 8/2s burst=8 refill=interval", "refill=interval: 8 tokens every 2 s"},
}

// refillTraffic is one request every 160 ms, a little more than the limits admit.
func refillTraffic() []time.Duration { return evenly(400*time.Millisecond, 46, 160*time.Millisecond) }

func refill() *drawing {
	const top, row = 128.0, 168.0
	d := draw(top+row*2-12, "Two ways to refill a token bucket",
		"Both limits are 8/2s burst=8. A request comes every 160 ms. The line is Remaining, as a peek shows it.",
		"With smooth refill requests are admitted one by one once the bucket is empty. With refill by interval eight are "+
			"admitted in a row and then none until the next step.")
	d.legend(38, entry{"yes-line", "tokens"}, entry{"yes", "admitted"}, entry{"no", "denied"})
	for i, r := range refillRows {
		c := &chart{
			drawing: d, x: 76, y: top + float64(i)*row, w: width - 76 - 146, h: 92,
			most: 8, to: 8 * time.Second,
		}
		d.text(c.x, c.y-30, "head", r.head)
		c.values(4, "tokens")
		c.times(time.Second, "")
		c.ticks(play(r.limit, refillTraffic(), false), c.y-20)
		c.steps("yes-line", remaining(r.limit, refillTraffic(), false, c.to))
		c.counts(play(r.limit, refillTraffic(), false))
	}
	d.text(76+(width-222)/2, top+row*2-38, "small mid", "time in seconds")
	return d
}

// remaining plays traffic and peeks every few milliseconds.
func remaining(limit string, traffic []time.Duration, wait bool, until time.Duration) []sample {
	w := newWorld(limit)
	var out []sample
	for at := time.Duration(0); at <= until; at += 4 * time.Millisecond {
		for len(traffic) > 0 && traffic[0] <= at {
			w.now = traffic[0]
			if wait {
				w.limiter.Reserve()
			} else {
				w.limiter.Allow()
			}
			traffic = traffic[1:]
		}
		w.now = at
		v := float64(w.limiter.Peek().Remaining())
		if n := len(out); n == 0 || out[n-1].value != v || at+4*time.Millisecond > until {
			out = append(out, sample{at, v})
		}
	}
	return out
}

// ticks draws a short stroke for every request at the height y: those that go
// ahead, and a little lower those that are denied.
func (c *chart) ticks(out []outcome, y float64) {
	var yes, no bars
	for _, o := range out {
		if o.allowed {
			yes.add(c.at(o.leaves)-1.2, y, 2.4, 12)
		} else {
			no.add(c.at(o.leaves)-1.2, y+3, 2.4, 9)
		}
	}
	c.bars(&yes, "yes")
	c.bars(&no, "no")
}
