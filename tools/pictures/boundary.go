package main

import (
	"fmt"
	"time"
)

// boundaryRows are the limits that the picture of the boundary compares.
var boundaryRows = []string{
	"fixed_window 100/s",
	"sliding_window 100/s sub_windows=10",
	"sliding_window 100/s weighted",
	"sliding_log 100/s",
}

// boundaryTraffic is 100 requests in the 100 ms before a second is full, and 100
// in the 100 ms after it.
func boundaryTraffic() []time.Duration {
	return evenly(1900*time.Millisecond, 200, time.Millisecond)
}

func boundary() *drawing {
	const row, top = 92.0, 98.0
	d := draw(top+row*4+36, "Twice the limit around a boundary",
		"200 requests within 200 ms, half of them before the window ends at 2 s, half after it. The limit is 100/s.",
		"The fixed window admits all 200 requests, the sliding window, the weighted window and the sliding log "+
			"admit 100 or little more.")
	d.legend(38, entry{"yes", "admitted"}, entry{"no", "denied"})
	for i, limit := range boundaryRows {
		c := &chart{
			drawing: d, x: 300, y: top + float64(i)*row, w: 450, h: 60, most: 10,
			from: 1800 * time.Millisecond, to: 2200 * time.Millisecond,
		}
		c.values(5, "")
		middle := c.at(2 * time.Second)
		c.line(middle, c.y-8, middle, c.y+c.h, "mark")
		c.boundaryRow(limit)
		if i == 0 {
			c.text(c.x-44, c.y-14, "small", "requests per 10 ms")
			c.text(middle, c.y-14, "small mid", "the window ends")
		}
		if i == len(boundaryRows)-1 {
			c.times(50*time.Millisecond, "time in seconds")
		}
	}
	return d
}

func (c *chart) boundaryRow(limit string) {
	out := play(limit, boundaryTraffic(), false)
	c.text(margin, c.y+26, "head", name(limit))
	c.text(margin, c.y+46, "code mute", options(limit))
	c.stacked(out, 10*time.Millisecond)
	class, most := "big end yes-text", peak(out, time.Second)
	if most > 100 {
		class = "big end no-text"
	}
	c.text(width-margin, c.y+32, class, fmt.Sprint(most))
	c.text(width-margin, c.y+50, "small end", "within 1 s")
}
