package main

import "time"

// bucketRows are what the picture of the buckets compares.
var bucketRows = []struct {
	contender
	head, remark string
}{
	{contender{"token_bucket 10/s burst=10", false}, "token_bucket, Allow", "10 tokens, 10 requests go at once, the others are denied"},
	{contender{"token_bucket 10/s burst=10", true}, "token_bucket, Wait", "10 go at once, the others one by one as tokens come"},
	{contender{"leaky_bucket 10/s burst=10", true}, "leaky_bucket, Wait", "one every 100 ms and never a burst; 10 fit into the queue"},
}

// bucketTraffic is 20 at once, nothing for a while, and 6 more at once.
func bucketTraffic() []time.Duration {
	ms := time.Millisecond
	return append(evenly(200*ms, 20, 0), evenly(2400*ms, 6, 0)...)
}

func buckets() *drawing {
	const top, row = 88.0, 104.0
	d := draw(top+row*4+48, "When requests leave the bucket",
		"20 requests come at once, and 6 more later. Both limits are 10/s burst=10. Every dot is one request.",
		"The token bucket lets ten requests out at once and the others every 100 milliseconds. The leaky bucket lets "+
			"one out every 100 milliseconds from the start.")
	d.legend(38, entry{"came", "comes"}, entry{"yes", "goes ahead"}, entry{"no", "denied"})
	for i := -1; i < len(bucketRows); i++ {
		c := &chart{
			drawing: d, x: 196, y: top + float64(i+1)*row, w: 540, h: 84,
			most: 1, to: 3200 * time.Millisecond,
		}
		c.line(c.x, c.y+c.h, c.x+c.w, c.y+c.h, "axis")
		if i < 0 {
			d.text(margin, c.y+c.h-20, "head", "requests come")
			c.dots(play("unlimited", bucketTraffic(), false), "came")
			continue
		}
		r := bucketRows[i]
		out := play(r.limit, bucketTraffic(), r.wait)
		c.dots(out, "yes")
		d.text(margin, c.y+c.h-20, "head", r.head)
		d.text(c.x+72, c.y+16, "mute", r.remark)
		c.counts(out)
		if i == len(bucketRows)-1 {
			c.times(200*time.Millisecond, "time in seconds")
		}
	}
	return d
}
