package main

import (
	"fmt"
	"time"
)

// storyTraffic is calm, a burst over a full second, and a steady load somewhat
// above 10 per second.
func storyTraffic() []time.Duration {
	ms := time.Millisecond
	return random(11, phase{1600 * ms, 5}, phase{2350 * ms, 60}, phase{3000 * ms, 8}, phase{4000 * ms, 16}, phase{5000 * ms, 5})
}

// story shows one limit at work: what comes, what goes ahead, and how much is
// left over time. A line marks every window.
func story(who contender, title string, window time.Duration) *drawing {
	out := play(who.limit, storyTraffic(), who.wait)
	d := draw(318, title, who.limit, fmt.Sprintf("%d requests over 5 seconds through %s: %d go ahead, %d are denied, "+
		"and Remaining over time.", len(out), who.limit, admitted(out), len(out)-admitted(out)))
	c := &chart{drawing: d, x: 118, y: 152, w: width - 118 - 146, h: 110, most: 12, to: 5 * time.Second}
	class := "mark"
	if window < time.Second {
		class = "grid"
	}
	for t := window; window > 0 && t < c.to; t += window {
		d.line(c.at(t), 84, c.at(t), c.y+c.h, class)
	}
	d.text(c.x-12, 98, "small end", "comes")
	d.text(c.x-12, 122, "small end", "goes ahead")
	d.text(c.x-12, 140, "small end", "denied")
	var came, yes, no bars
	for _, o := range out {
		came.add(c.at(o.came)-1, 86, 2, 14)
		if o.allowed {
			yes.add(c.at(o.leaves)-1, 110, 2, 14)
		} else {
			no.add(c.at(o.leaves)-1, 130, 2, 12)
		}
	}
	d.bars(&came, "came")
	d.bars(&yes, "yes")
	d.bars(&no, "no")
	c.values(4, "Remaining")
	c.times(500*time.Millisecond, "time in seconds")
	c.steps("yes-line", remaining(who.limit, storyTraffic(), who.wait, c.to))
	d.text(width-margin, c.y+26, "big end", fmt.Sprint(peak(out, time.Second)))
	d.text(width-margin, c.y+44, "small end", "most that went")
	d.text(width-margin, c.y+60, "small end", "within 1 s")
	c.counts(out)
	return d
}

func fixedStory() *drawing {
	return story(contender{"fixed_window 10/s", false}, "fixed_window: the count starts anew at every boundary", time.Second)
}

func slidingStory() *drawing {
	return story(contender{"sliding_window 10/s sub_windows=10", false},
		"sliding_window: what was spent is freed in small steps", 100*time.Millisecond)
}

func logStory() *drawing {
	return story(contender{"sliding_log 10/s", false}, "sliding_log: every request counts for exactly a second", 0)
}

func tokenStory() *drawing {
	return story(contender{"token_bucket 10/s burst=10", false}, "token_bucket: a burst, then a steady rate", 0)
}

func leakyStory() *drawing {
	return story(contender{"leaky_bucket 10/s burst=10", true}, "leaky_bucket: one at a time, the others queue", 0)
}
