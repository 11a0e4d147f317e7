package lease

import "sync/atomic"

// core is the lease of one key: a state machine without clock, lock or I/O. All
// that decides how many tokens may be spent until when is in here, in lot.go and
// in refill.go. [core.take] is safe at any time; one caller at a time may use the
// rest, and have one request for tokens under way.
type core struct {
	plan *plan
	cur  atomic.Pointer[lot]
	next *lot       // only seen under the lock
	past *lot       // was used up last, and may get something back from a refund
	used []leftover // lots that ended with something left that may be given back

	want   int64 // size of the next batch; 1 means that the key is not worth a lease
	era    int64 // how often the lease was dropped: an answer to an older request is void
	lost   int64 // what was granted before this era, the store has forgotten
	asking int64 // the most that the request under way can bring
	sent   int64 // when the newest request was sent; 0 if the lease was dropped since
	short  bool  // its answer was less than wanted
	hungry bool  // somebody went without
	rest   int64 // no new request before this instant
	off    int64 // no lease before this instant, because the store is too slow for it

	since, count int64 // demand that was seen while there was no lease
}

// leftover is what a lot had left when it ended.
type leftover struct {
	lot    *lot
	unused int64
}

// maxUsed bounds what is remembered for giving back; the rest is lost.
const maxUsed = 16

// take spends cost out of the current lot. It needs no lock.
func (c *core) take(now, cost int64) (payment, bool) {
	l := c.cur.Load()
	if l == nil {
		return payment{}, false
	}
	left, ok := l.take(now, cost)
	return payment{lot: l, cost: cost, left: left}, ok
}

// pay spends cost. A peek, cost 0, is answered if there is anything to spend.
func (c *core) pay(now, cost int64) (payment, bool) {
	c.turn(now)
	if cost > 0 {
		return c.draw(now, cost)
	}
	l := c.cur.Load()
	if !l.useful(now) {
		return payment{}, false
	}
	return payment{lot: l, left: l.left.Load()}, true
}

// draw spends cost, if need be out of two lots: the rest of the current one, and
// the next. Those who hold no lock see nothing of the next one before [core.turn].
func (c *core) draw(now, cost int64) (payment, bool) {
	if p, ok := c.take(now, cost); ok || c.next == nil {
		return p, ok
	}
	p := payment{cost: cost}
	if l := c.cur.Load(); l.useful(now) {
		p.old, p.part = l, min(l.left.Load(), cost-1)
		if _, ok := l.take(now, p.part); !ok {
			return payment{}, false // spent meanwhile, without the lock
		}
	}
	left, ok := c.next.take(now, cost-p.part)
	if !ok {
		c.putBack(p.old, p.part)
		return payment{}, false
	}
	p.lot, p.left = c.next, left
	return p, true
}

// undo puts a payment back that was held. What came from a lot that has ended
// meanwhile may be given back to the store.
func (c *core) undo(p payment) {
	p.settle()
	c.putBack(p.lot, p.cost-p.part)
	c.putBack(p.old, p.part)
}

func (c *core) putBack(l *lot, amount int64) {
	if amount == 0 {
		return
	}
	if l.left.Add(amount); l != c.cur.Load() && l != c.next {
		c.giveUp(l)
	}
}

// turn puts the next lot in the place of a current one that is of no use, or of
// none.
func (c *core) turn(now int64) {
	for l := c.cur.Load(); !l.useful(now) && (l != nil || c.next != nil); l = c.cur.Load() {
		if l != nil {
			c.retire(l, now)
		}
		c.cur.Store(c.next)
		c.next = nil
	}
}

// retire ends a lot. What it had left tells how much demand there was.
func (c *core) retire(l *lot, now int64) {
	if unused := l.left.Load(); unused == 0 {
		c.past = l
	} else if now-l.sent >= c.plan.life/2 {
		c.want = max(1, min(c.want, (l.size-unused)/2))
	}
	c.giveUp(l)
}

// giveUp ends a lot without learning about demand from it.
func (c *core) giveUp(l *lot) {
	if unused := l.close(); unused > 0 && l.era >= c.lost && c.plan.returns && len(c.used) < maxUsed {
		c.used = append(c.used, leftover{l, unused})
	}
}

// expire ends the lots whose deadline is at most early µs away, where that is
// of use to others, and returns what may be given back.
func (c *core) expire(now, early int64) []leftover {
	if !c.plan.returns {
		early = 0
	}
	if l := c.next; l != nil && now >= l.until-early {
		c.retire(l, now)
		c.next = nil
	}
	if l := c.cur.Load(); l != nil && now >= l.until-early {
		c.retire(l, now)
		c.cur.Store(c.next)
		c.next = nil
	}
	return c.leftovers()
}

// drop ends all lots, and makes the answer to a request under way void. What
// is left is given back, or lost if the store has forgotten it as well.
func (c *core) drop(back bool) {
	c.era++
	for _, l := range []*lot{c.cur.Load(), c.next} {
		if l != nil {
			c.giveUp(l)
		}
	}
	if !back {
		c.used, c.lost = nil, c.era
	}
	c.cur.Store(nil)
	c.next, c.past, c.sent = nil, nil, 0
	c.rest, c.off, c.count = 0, 0, 0
}

// leftovers hands out what may be given back.
func (c *core) leftovers() []leftover {
	used := c.used
	c.used = nil
	return used
}

// idle reports whether there is nothing to watch over.
func (c *core) idle() bool { return c.cur.Load() == nil && c.next == nil && len(c.used) == 0 }
