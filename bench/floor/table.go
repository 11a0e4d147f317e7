package floor

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"
)

// slot is 24 bytes: 128 bits of identity and a bucket's word. A free slot has
// a == 0; a slot that is being claimed has b == 0.
type slot struct {
	a, b  atomic.Uint64
	state atomic.Int64
}

// Table is a flat table of token buckets, open addressing with linear probing,
// without locks. It never grows and never forgets: it must be made for at
// least as many keys as it will see.
type Table struct {
	slots        []slot
	mask         uint64
	seedA, seedB maphash.Seed
	limit        Limit
	base         time.Time
}

// NewTable returns a table for the given number of keys. Its slots are the
// power of two that is at least 1.5 times as many, so one million keys have
// 2^21 slots.
func NewTable(l Limit, keys int) *Table {
	n := 1 << bits.Len(uint(keys+keys/2))
	return &Table{
		slots: make([]slot, n),
		mask:  uint64(n - 1),
		seedA: maphash.MakeSeed(),
		seedB: maphash.MakeSeed(),
		limit: l,
		base:  time.Now(),
	}
}

// Allow takes one token of the key's bucket if there is one.
func (t *Table) Allow(key string) bool {
	return t.allowAt(key, int64(time.Since(t.base)/time.Microsecond))
}

func (t *Table) allowAt(key string, micros int64) bool {
	s := t.find(t.identity(key))
	return t.limit.Take(&s.state, micros)
}

// identity returns 128 bits of hash, of which the last is set.
func (t *Table) identity(key string) (a, b uint64) {
	return maphash.String(t.seedA, key), maphash.String(t.seedB, key) | 1
}

// find returns the slot of the identity (a, b), claiming a free one if the
// table has none. b is odd, so never the mark of a slot being claimed.
func (t *Table) find(a, b uint64) *slot {
	if a == 0 {
		a = 1
	}
	for i := a & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		have := s.a.Load()
		if have == 0 {
			if s.a.CompareAndSwap(0, a) {
				s.b.Store(b)
				return s
			}
			have = s.a.Load()
		}
		if have == a && s.second() == b {
			return s
		}
	}
}

// second returns the slot's second identity word, waiting for the goroutine
// that has claimed the slot and not yet written it.
func (s *slot) second() uint64 {
	for {
		if b := s.b.Load(); b != 0 {
			return b
		}
	}
}
