package engine

import (
	"hash/maphash"
	"sync/atomic"
)

// room is where requests wait. It has so many places, of which one key of a rule may
// take half, so that nobody can keep all others from waiting.
type room struct {
	most    int64 // how many places there are
	waiters atomic.Int64
	seed    maphash.Seed
	shares  [4096]atomic.Int64 // how many of them keys have, by hash: a few share one
}

func (r *room) init(most int64) { r.most, r.seed = most, maphash.MakeSeed() }

// enter takes a place for a request of which a rule says that it may wait. It reports
// false if there is none, or none for its keys.
func (e *Engine) enter(c *call) bool {
	r := &e.room
	if c.slots = c.slots[:0]; r.waiters.Add(1) > r.most {
		r.leave(c)
		e.warn(manyWaiters, "sluice: too many requests are waiting, more are decided at once", "most", r.most)
		return false
	}
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		if !c.holds(h) || len(h.Rule.Key) == 0 { // without a key it is about everybody
			continue
		}
		slot := maphash.Bytes(r.seed, h.Key) % uint64(len(r.shares))
		c.slots = append(c.slots, slot)
		if r.shares[slot].Add(1) > r.share() {
			r.leave(c)
			e.warn(manyOfKey, "sluice: too many requests of one key are waiting, more are decided at once", "rule", h.Rule.Name, "most", r.share())
			return false
		}
	}
	return true
}

// share returns how many places one key may take.
func (r *room) share() int64 { return (r.most + 1) / 2 }

// leave gives the place back.
func (r *room) leave(c *call) {
	r.waiters.Add(-1)
	for _, slot := range c.slots {
		r.shares[slot].Add(-1)
	}
}
