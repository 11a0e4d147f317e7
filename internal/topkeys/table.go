package topkeys

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"time"
)

// maxStripes bounds the memory of a Table: a stripe takes about 130 KB, and only once
// something is added to it.
const maxStripes = 8

// Table counts keys. It is safe for concurrent use: its stripes count on their own, so
// that callers with different hints hardly ever meet, and Top sums them up.
type Table struct {
	seed    maphash.Seed // nobody outside can choose keys that share a bucket
	window  int64        // in µs
	stripes []stripe     // a power of 2
}

// stripe is what callers with the same hint add to.
type stripe struct {
	mu       sync.Mutex
	number   int64 // of the window that runs
	current  *summary
	previous *summary
	_        [96]byte // the next stripe is on other cache lines
}

// New returns a table for about so many callers at the same time. It takes at most
// about 1 MB, however many keys there are.
func New(callers int, window time.Duration) *Table {
	stripes := min(1<<bits.Len(uint(max(callers, 1)-1)), maxStripes)
	return &Table{
		seed:    maphash.MakeSeed(),
		window:  max(window.Microseconds(), 1),
		stripes: make([]stripe, stripes),
	}
}

// Add counts key weight times, under label, at the instant now in µs. Equal keys of
// different labels are different keys. The label is kept as it is; of the key a copy.
// Callers that run at the same time should give different hints.
func (t *Table) Add(hint uint32, now int64, label, key string, weight uint64) {
	hash := t.hash(label, key)
	s := t.lock(hint)
	s.turn(now / t.window)
	s.current.add(hash, weight, label, key)
	s.mu.Unlock()
}

// hash never returns 0, which stands for a free counter.
func (t *Table) hash(label, key string) uint64 {
	h := maphash.String(t.seed, key) + bits.RotateLeft64(maphash.String(t.seed, label), 29)*0x9e3779b97f4a7c15
	return max(h, 1)
}

// lock returns a stripe that the caller has for itself: that of hint, or the next one
// that nobody holds.
func (t *Table) lock(hint uint32) *stripe {
	n := uint32(len(t.stripes))
	for i := range n {
		if s := &t.stripes[(hint+i)&(n-1)]; s.mu.TryLock() {
			return s
		}
	}
	s := &t.stripes[hint&(n-1)]
	s.mu.Lock()
	return s
}

// turn makes the window with this number the current one. Whoever read the clock just
// before others turned adds to theirs; if the clock jumps, everything is forgotten.
func (s *stripe) turn(number int64) {
	if s.current == nil {
		s.current, s.previous, s.number = new(summary), new(summary), number
		return
	}
	switch number - s.number {
	case 0, -1:
		return
	case 1:
		s.current, s.previous = s.previous, s.current
	default:
		s.previous.clear()
	}
	s.current.clear()
	s.number = number
}
