package main

// A block is a box of the diagram.
type block struct {
	x, y, w, h float64
	class      string
	head       string
	lines      []string
}

func (d *drawing) block(b block) {
	d.rounded(b.x, b.y, b.w, b.h, 8, b.class)
	d.text(b.x+b.w/2, b.y+24, "head mid", b.head)
	for i, l := range b.lines {
		d.text(b.x+b.w/2, b.y+44+17*float64(i), "small mid", l)
	}
}

// flow shows the way of one decision. It is the only picture that is laid out by
// hand.
func flow() *drawing {
	d := draw(352, "The way of one decision", "Data flows down once and up once. Everything below the store is a pure function.",
		"A request goes to a Limiter or a Keyed, which asks a store about all limits at once; the store calls algo with the "+
			"state, the time and the cost; the verdicts come back as one Decision.")
	const y, h = 92.0, 96.0
	blocks := []block{
		{28, y, 120, h, "box", "request", []string{"key, cost,", "how long it", "may wait"}},
		{196, y, 150, h, "key", "Limiter / Keyed", []string{"parsed limits,", "Allow, Reserve,", "Wait, Peek"}},
		{394, y, 176, h, "box", "store", []string{"key → state, its clock;", "all limits in one call,", "all or nothing"}},
		{618, y, 234, h, "key", "algo", []string{"spec, state, now, cost, maxWait", "→ verdict, next state", "no clock, no lock, no I/O"}},
	}
	for i, b := range blocks {
		d.block(b)
		if i > 0 {
			before := blocks[i-1]
			d.arrow(before.x+before.w+4, y+h/2, b.x-4, y+h/2)
		}
	}
	back := y + h + 40
	d.block(block{28, back, 318, 76, "box", "Decision", []string{"Allowed, Reason, Limit, Wait,", "Remaining, RetryAfter, ResetAfter"}})
	d.block(block{394, back, 458, 76, "box", "verdicts", []string{"one per limit; the one that binds speaks for all", "a denial by one spends nothing in any other"}})
	d.arrow(735, y+h+4, 735, back-4)
	d.arrow(390, back+38, 350, back+38)
	d.arrow(88, back-4, 88, y+h+4)
	d.text(margin, 330, "small", "Allowed == false is an answer, not an error. An error means that nothing could be decided.")
	return d
}
