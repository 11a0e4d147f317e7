package redisstore

import (
	"sync"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/algo"
)

// denialWays is how many denials share a set.
const denialWays = 4

// denialSet holds the denials of a few keys. All limits of a key lie in one set.
type denialSet struct {
	mu      sync.Mutex // guards dropped, and writing to the slots
	dropped int64      // what was asked up to this instant teaches nothing any more
	slots   [denialWays]denialSlot
}

// denialSlot is a denial that is read without a lock: who finds the version odd,
// or changed after reading, has read nothing.
type denialSlot struct {
	version     atomic.Uint64
	hi, lo      atomic.Uint64
	spec        atomic.Pointer[algo.Spec] // nil: free
	cost, wait  atomic.Int64
	sent, until atomic.Int64
	x, y, z     atomic.Int64
	window      atomic.Uint32
}

// find returns the denial of a key by a limit of the given limit's shape.
func (s *denialSet) find(k denialKey, p *algo.Spec) (denial, bool) {
	for i := range s.slots {
		if e, ok := s.slots[i].read(k); ok && (e.spec == p || e.spec.Shape() == p.Shape()) {
			return e, true
		}
	}
	return denial{}, false
}

func (s *denialSlot) is(k denialKey) bool { return s.lo.Load() == k.lo && s.hi.Load() == k.hi }

// read returns what the slot holds, if it is a denial of that key.
func (s *denialSlot) read(k denialKey) (e denial, ok bool) {
	version := s.version.Load()
	if version&1 != 0 || !s.is(k) {
		return e, false
	}
	e.spec = s.spec.Load()
	e.cost, e.wait = s.cost.Load(), s.wait.Load()
	e.sent, e.until = s.sent.Load(), s.until.Load()
	e.verdict.X, e.verdict.Y, e.verdict.Z = s.x.Load(), s.y.Load(), s.z.Load()
	e.verdict.Window = uint8(s.window.Load())
	return e, e.spec != nil && s.version.Load() == version
}

// write replaces what the slot holds. The set is locked.
func (s *denialSlot) write(k denialKey, e *denial) {
	s.version.Add(1)
	s.hi.Store(k.hi)
	s.lo.Store(k.lo)
	s.spec.Store(e.spec)
	s.cost.Store(e.cost)
	s.wait.Store(e.wait)
	s.sent.Store(e.sent)
	s.until.Store(e.until)
	s.x.Store(e.verdict.X)
	s.y.Store(e.verdict.Y)
	s.z.Store(e.verdict.Z)
	s.window.Store(uint32(e.verdict.Window))
	s.version.Add(1)
}

// put keeps a denial in the place of an older one of the same limit, or else of
// the one that runs out first. One that answers less than what is there, and for
// no longer, is not kept.
func (s *denialSet) put(k denialKey, e denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.sent <= s.dropped {
		return
	}
	place := &s.slots[0]
	for i := range s.slots {
		slot := &s.slots[i]
		if old, ok := slot.read(k); ok && old.spec.Shape() == e.spec.Shape() {
			if old.covers(&e) {
				return
			}
			place = slot
			break
		}
		if slot.until.Load() < place.until.Load() {
			place = slot
		}
	}
	place.write(k, &e)
}

// drop forgets the denials of a key, and those that are on their way.
func (s *denialSet) drop(now int64, k denialKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = max(s.dropped, now)
	for i := range s.slots {
		if slot := &s.slots[i]; slot.is(k) && slot.spec.Load() != nil {
			slot.write(denialKey{}, &denial{})
		}
	}
}

// forget drops one denial of a key, if it is still there.
func (s *denialSet) forget(k denialKey, old denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		if e, ok := s.slots[i].read(k); ok && e == old {
			s.slots[i].write(denialKey{}, &denial{})
		}
	}
}
