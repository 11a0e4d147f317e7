package lease

// Refunds. The store counts what is leased here as spent, and cannot tell it from
// what was really spent. So a refund goes first to where tokens were spent from:
// into a lot that is alive nothing comes that did not leave it, so that what is
// spent of it and not refunded is never more than the store granted.

// refund gives cost back to the lease and to those who wait, and returns how much
// of it the store has to give back. The entry is locked.
func (e *entry) refund(now, cost int64) (rest int64) {
	if rest = cost - e.core.refund(now, cost); rest < cost {
		e.serve(now)
		e.core.turn(now)
	}
	if rest == 0 || e.core.outweighs(now, rest) {
		return 0
	}
	e.core.drop(true)
	e.dry.Store(0)
	return rest
}

// refund puts back up to cost of what was spent out of lots that are alive, and
// returns how much that is. As with an answer, those who wait see it first.
func (c *core) refund(now, cost int64) (back int64) {
	for _, l := range []*lot{c.cur.Load(), c.next, c.past} {
		if l == nil || now >= l.until || l == c.past && c.next != nil {
			continue
		}
		n := min(cost-back, l.spent())
		if l.left.Add(n); n > 0 && l == c.past {
			c.past = nil
			c.put(l, now)
		}
		back += n
	}
	return back
}

// outweighs reports whether a refund of cost is not worth dropping the lease of a
// bucket, which gets none of it back.
func (c *core) outweighs(now, cost int64) bool {
	return !c.plan.returns && cost <= c.held(now)+c.asking
}

// held is what can be spent of the lots.
func (c *core) held(now int64) (sum int64) {
	for _, l := range []*lot{c.cur.Load(), c.next} {
		if l.useful(now) {
			sum += l.left.Load()
		}
	}
	return sum
}
