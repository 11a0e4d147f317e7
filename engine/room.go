package engine

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// room is where requests wait. It has so many places, of which one key of a rule may
// take a tenth, so that nobody can keep all others from waiting.
type room struct {
	most    int64 // how many places there are
	waiters atomic.Int64
	seed    maphash.Seed
	parts   [64]roomPart // by hash of the key
}

// roomPart knows how many places some of the keys have.
type roomPart struct {
	mu    sync.Mutex
	taken map[uint64]int64 // guarded by mu; by hash of the key
}

func (r *room) init(most int64) { r.most, r.seed = most, maphash.MakeSeed() }

// enter takes a place for a request of which a rule says that it may wait. It reports
// false if there is none, or none for its keys.
func (e *Engine) enter(c *call) bool {
	r := &e.room
	if c.places = c.places[:0]; r.waiters.Add(1) > r.most {
		r.leave(c)
		e.warn(manyWaiters, "sluice: too many requests are waiting, more are decided at once", "most", r.most)
		return false
	}
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		if !c.holds(h) || len(h.Rule.Key) == 0 { // without a key it is about everybody
			continue
		}
		key := maphash.Bytes(r.seed, h.Key)
		c.places = append(c.places, key)
		if r.add(key, 1) > r.share() {
			r.leave(c)
			e.warn(manyOfKey, "sluice: too many requests of one key are waiting, more are decided at once", "rule", h.Rule.Name, "most", r.share())
			return false
		}
	}
	return true
}

// share returns how many places one key may take.
func (r *room) share() int64 { return max(1, r.most/10) }

// leave gives the place back.
func (r *room) leave(c *call) {
	r.waiters.Add(-1)
	for _, key := range c.places {
		r.add(key, -1)
	}
}

// add changes how many places a key has, and returns that.
func (r *room) add(key uint64, n int64) int64 {
	p := &r.parts[key%uint64(len(r.parts))]
	p.mu.Lock()
	defer p.mu.Unlock()
	if n += p.taken[key]; n == 0 {
		delete(p.taken, key)
		return 0
	}
	if p.taken == nil {
		p.taken = make(map[uint64]int64)
	}
	p.taken[key] = n
	return n
}
