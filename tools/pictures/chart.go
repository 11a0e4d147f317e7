package main

import (
	"strconv"
	"time"
)

// A chart is a part of a picture in which time runs to the right and something
// that is counted goes up.
type chart struct {
	*drawing
	x, y, w, h float64 // of the plotted area
	from, to   time.Duration
	most       float64 // at the upper edge
}

func (c *chart) at(t time.Duration) float64 {
	return c.x + c.w*float64(t-c.from)/float64(c.to-c.from)
}

func (c *chart) up(v float64) float64 { return c.y + c.h - c.h*v/c.most }

// values draws the vertical axis: a line of the grid every step.
func (c *chart) values(step float64, unit string) {
	for v := 0.0; v <= c.most+1e-9; v += step {
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		c.line(c.x, c.up(v), c.x+c.w, c.up(v), class)
		c.text(c.x-8, c.up(v)+4, "small end", strconv.FormatFloat(v, 'f', -1, 64))
	}
	if unit != "" {
		c.turned(c.x-44, c.y+c.h/2, "small", unit)
	}
}

// times draws the horizontal axis: a tick every step, and what is counted.
func (c *chart) times(step time.Duration, unit string) {
	for t := c.from; t <= c.to; t += step {
		x := c.at(t)
		c.line(x, c.y+c.h, x, c.y+c.h+4, "axis")
		c.text(x, c.y+c.h+18, "small mid", seconds(t))
	}
	if unit != "" {
		c.text(c.x+c.w/2, c.y+c.h+36, "small mid", unit)
	}
}

// steps draws a value that stays what it is until it changes.
func (c *chart) steps(class string, samples []sample) {
	var points []point
	for i, s := range samples {
		if i > 0 {
			points = append(points, point{c.at(s.at), c.up(samples[i-1].value)})
		}
		points = append(points, point{c.at(s.at), c.up(s.value)})
	}
	c.path(class, points...)
}

type sample struct {
	at    time.Duration
	value float64
}

// seconds writes a time without more digits than it needs.
func seconds(t time.Duration) string {
	return strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
}
