package main

import (
	"fmt"
	"time"
)

// dots draws every request as one: those of the same instant on top of each
// other, in columns of ten, so that they can be counted.
func (c *chart) dots(out []outcome, yes string) {
	const size, column = 7.0, 10
	stacked := map[time.Duration]int{}
	for _, allowed := range []bool{true, false} {
		class := yes
		if !allowed {
			class = "no"
		}
		for _, o := range out {
			if o.allowed != allowed {
				continue
			}
			n := stacked[o.leaves]
			stacked[o.leaves]++
			x := c.at(o.leaves) + float64(n/column)*size
			c.circle(x, c.y+c.h-4-float64(n%column)*size, 3, class)
		}
	}
}

// counts writes how many went ahead and how many were denied, right of the chart.
func (c *chart) counts(out []outcome) {
	yes := admitted(out)
	c.text(width-margin, c.y+c.h-20, "head end yes-text", fmt.Sprintf("%d go ahead", yes))
	if no := len(out) - yes; no > 0 {
		c.text(width-margin, c.y+c.h-2, "head end no-text", fmt.Sprintf("%d denied", no))
	}
}
