package lease

import "github.com/sluice-limiter/sluice/algo"

// The part of the core that decides when to ask the store for tokens and for how
// many, and what becomes of the answer.

// request asks the store for tokens.
type request struct {
	cost, want int64 // at least, and at most
	sent, era  int64
}

// grant is the store's answer.
type grant struct {
	granted int64
	verdict algo.Verdict
	at      int64
	mark    algo.Mark
}

// miss notes a request for cost that the lease could not serve, and reports
// whether a batch is worth while: at four tokens within half a life.
func (c *core) miss(now, cost int64) bool {
	if now < c.off || !c.plan.leased() {
		return false
	}
	if c.want < 2 {
		if now-c.since > c.plan.life/2 {
			c.since, c.count = now, 0
		}
		if c.count += cost; c.count < 4 {
			return false
		}
		c.want, c.count = min(c.count, c.plan.cap), 0
	}
	c.hungry = true
	return true
}

// low reports whether the next batch should be fetched before it is missed.
func (c *core) low(now int64) bool {
	l := c.cur.Load()
	return c.next == nil && c.want >= 2 && now >= c.off && l.useful(now) && l.left.Load() <= l.low
}

// ask begins a request: for at least cost, and enough for all that queue. A
// batch should last for a quarter to half of a lease's life; one that did not is
// doubled.
func (c *core) ask(now, cost, queued int64) request {
	if c.sent != 0 && now-c.sent < c.plan.life/4 && !c.short {
		c.want = min(max(2*c.want, queued), c.plan.cap)
	}
	c.hungry, c.sent = false, now
	c.asking = max(cost, min(max(c.want, queued), c.plan.cap))
	return request{cost: max(1, cost), want: c.asking, sent: now, era: c.era}
}

// fail ends a request that got no answer. What it may have spent is lost.
func (c *core) fail(now int64) {
	c.short, c.rest, c.asking = true, now+c.plan.pause, 0
}

// answer ends a request. It returns the new lot, or nil if nothing was granted,
// or too late, or to a lease that was dropped since: then it may be given back.
// The lot is next in line, for those who wait; [core.turn] lets others see it.
func (c *core) answer(now int64, r request, g grant) *lot {
	c.asking = 0
	l := &lot{
		until: c.plan.deadline(r.sent, g.verdict), sent: r.sent, era: r.era, size: g.granted, low: g.granted / 2,
		at: g.at, mark: g.mark, answer: c.plan.outward(g.verdict),
	}
	l.left.Store(g.granted)
	if r.era != c.era {
		c.giveUp(l)
		return nil
	}
	c.short = g.granted < r.want
	if c.short {
		c.want = max(2, min(c.want/2, max(g.granted, 2)))
		if g.granted < enough {
			c.rest = r.sent + c.plan.pause
		}
	}
	if g.granted == 0 {
		return nil
	}
	if now >= l.until {
		if now-r.sent >= c.plan.age/2 {
			c.want, c.off = 1, now+20*c.plan.age
		}
		c.giveUp(l)
		return nil
	}
	c.put(l, now)
	return l
}

// put adds a new lot. Of three the oldest makes room: all of them together were
// not enough for somebody.
func (c *core) put(l *lot, now int64) {
	c.turn(now)
	if c.next != nil {
		c.giveUp(c.cur.Load())
		c.cur.Store(c.next)
	}
	c.next = l
}
