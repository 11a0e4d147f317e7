package main

import (
	"fmt"
	"time"
)

const warmLimit = "warm_up 100/s warm_up=10s cold_factor=3"

// warmLoads are the times in which as much is asked for as the limit admits.
var warmLoads = [][2]time.Duration{
	{0, 18 * time.Second},
	{22 * time.Second, 30 * time.Second},
	{38 * time.Second, 46 * time.Second},
	{58 * time.Second, 70 * time.Second},
}

// saturate asks again as soon as the request before it has gone ahead.
func saturate(limit string, loads [][2]time.Duration) []outcome {
	w := newWorld(limit)
	var out []outcome
	for _, load := range loads {
		for w.now = load[0]; w.now < load[1]; {
			r := w.limiter.Reserve()
			o := outcome{w.now, r.OK(), w.now + r.Delay()}
			w.now = o.leaves
			out = append(out, o)
		}
	}
	return out
}

// pace returns how many go ahead per second, each time measured over ten
// requests.
func pace(out []outcome, load [2]time.Duration) []sample {
	var line []sample
	for i := 0; i+10 < len(out); i += 5 {
		first, last := out[i].leaves, out[i+10].leaves
		if first >= load[0] && last <= load[1] {
			line = append(line, sample{(first + last) / 2, 10 / (last - first).Seconds()})
		}
	}
	return line
}

func warmUp() *drawing {
	d := draw(378, "Warming up, cooling down",
		"Asked for as much as it admits, with pauses: "+warmLimit,
		"The admitted rate climbs from 33 to 100 per second within ten seconds. A pause of 4 seconds changes nothing, after "+
			"one of 8 seconds the limiter is partly cold, after one of 12 seconds it is cold again.")
	d.legend(38, entry{"yes-line", "admitted"}, entry{"idle", "pause"})
	c := &chart{drawing: d, x: 82, y: 104, w: width - 82 - margin, h: 206, most: 120, to: 70 * time.Second}
	for i := 1; i < len(warmLoads); i++ {
		from, to := warmLoads[i-1][1], warmLoads[i][0]
		d.rect(c.at(from), c.y, c.at(to)-c.at(from), c.h, "idle")
		d.text((c.at(from)+c.at(to))/2, c.y+c.h-10, "small mid", fmt.Sprintf("%s s", seconds(to-from)))
	}
	c.values(20, "admitted per second")
	c.times(5*time.Second, "time in seconds")
	c.line(c.x, c.up(100), c.x+c.w, c.up(100), "limit")
	out := saturate(warmLimit, warmLoads)
	for i, load := range warmLoads {
		var line []point
		for _, s := range pace(out, load) {
			line = append(line, point{c.at(s.at), c.up(s.value)})
		}
		c.path("yes-line", line...)
		remark := []string{"cold: at first a third of the rate", "still warm", "partly cold", "cold again"}[i]
		d.text(c.at(load[0])+4, c.up(107), "small", remark)
	}
	return d
}
