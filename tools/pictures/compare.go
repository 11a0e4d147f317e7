package main

import (
	"fmt"
	"slices"
	"time"
)

// A contender is a limit and how it is asked: those that book the future let
// requests wait for their turn.
type contender struct {
	limit string
	wait  bool
}

// contenders all mean 20 per second.
var contenders = []contender{
	{"fixed_window 20/s", false},
	{"sliding_window 20/s sub_windows=10", false},
	{"sliding_window 20/s weighted", false},
	{"sliding_log 20/s", false},
	{"token_bucket 20/s burst=20", false},
	{"token_bucket 20/s burst=5", false},
	{"leaky_bucket 20/s burst=10", true},
	{"warm_up 20/s warm_up=3s max_wait=500ms", true},
}

// compareTraffic is calm, then a burst around a full second, calm, a spike of
// 40 in 400 ms, silence, three seconds of overload, and calm again.
func compareTraffic() []time.Duration {
	ms := time.Millisecond
	out := random(7,
		phase{2500 * ms, 10}, phase{3400 * ms, 70}, phase{5200 * ms, 6}, phase{6500 * ms, 0},
		phase{9500 * ms, 36}, phase{12000 * ms, 10})
	out = append(out, evenly(5400*ms, 40, 10*ms)...)
	slices.Sort(out)
	return out
}

func compare() *drawing {
	const row, top = 62.0, 118.0
	traffic := compareTraffic()
	d := draw(top+row*float64(len(contenders)+1)+40, "The same traffic through every algorithm",
		"Every limit says 20 per second. Bars are requests per 100 ms. What waits is drawn when it goes ahead.",
		fmt.Sprintf("%d requests in 12 seconds through eight limits of 20 per second: for each, what was admitted and "+
			"denied over time, and the largest number admitted within any one second.", len(traffic)))
	d.legend(38, entry{"came", "offered"}, entry{"yes", "admitted"}, entry{"no", "denied"})
	d.text(width-margin, top-28, "small end", "most within")
	d.text(width-margin, top-12, "small end", "any second")
	d.text(width-margin-90, top-28, "small end", "admitted")
	d.text(width-margin-90, top-12, "small end", fmt.Sprintf("of %d", len(traffic)))
	for i := -1; i < len(contenders); i++ {
		c := &chart{drawing: d, x: 290, y: top + float64(i+1)*row, w: 410, h: 44, most: 12, to: 12 * time.Second}
		c.values(6, "")
		if i < 0 {
			offered(c, traffic)
		} else {
			contend(c, contenders[i], traffic)
		}
		if i == len(contenders)-1 {
			c.times(time.Second, "time in seconds")
		}
	}
	return d
}

func offered(c *chart, traffic []time.Duration) {
	var all []outcome
	for _, at := range traffic {
		all = append(all, outcome{at, true, at})
	}
	c.text(margin, c.y+22, "head", "offered load")
	n, _ := histogram(all, 0, c.to, 100*time.Millisecond)
	var grey bars
	wide := c.w / float64(len(n))
	for i, v := range n {
		y := c.up(float64(v))
		grey.add(c.x+float64(i)*wide+0.3, y, wide-0.6, c.up(0)-y)
	}
	c.bars(&grey, "came")
	c.text(width-margin, c.y+28, "big end mute", fmt.Sprint(peak(all, time.Second)))
}

func contend(c *chart, who contender, traffic []time.Duration) {
	out := play(who.limit, traffic, who.wait)
	c.text(margin, c.y+18, "head", name(who.limit))
	c.text(margin, c.y+36, "code mute", options(who.limit))
	c.stacked(out, 100*time.Millisecond)
	most := peak(out, time.Second)
	class := "big end yes-text"
	if most > 20 {
		class = "big end no-text"
	}
	c.text(width-margin, c.y+28, class, fmt.Sprint(most))
	c.text(width-margin-90, c.y+28, "end", fmt.Sprint(admitted(out)))
}
