package floor

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"
)

// slot is 128 bits of identity and a state. A free slot has a == 0; a slot that
// is being claimed has b == 0.
type slot[S any] struct {
	a, b  atomic.Uint64
	state S
}

// flat is a flat table, open addressing with linear probing, without locks. It
// never grows and never forgets: it must be made for at least as many keys as it
// will see.
type flat[S any] struct {
	slots        []slot[S]
	mask         uint64
	seedA, seedB maphash.Seed
	base         time.Time
}

// newFlat returns a table for the given number of keys. Its slots are the
// power of two that is at least 1.5 times as many, so one million keys have
// 2^21 slots.
func newFlat[S any](keys int) flat[S] {
	n := 1 << bits.Len(uint(keys+keys/2))
	return flat[S]{
		slots: make([]slot[S], n),
		mask:  uint64(n - 1),
		seedA: maphash.MakeSeed(),
		seedB: maphash.MakeSeed(),
		base:  time.Now(),
	}
}

// micros returns the microseconds since the table was made.
func (t *flat[S]) micros() int64 { return int64(time.Since(t.base) / time.Microsecond) }

// identity returns 128 bits of hash, of which the last is set.
func (t *flat[S]) identity(key string) (a, b uint64) {
	return maphash.String(t.seedA, key), maphash.String(t.seedB, key) | 1
}

// find returns the state of the identity (a, b), claiming a free slot if the
// table has none. b is odd, so never the mark of a slot being claimed.
func (t *flat[S]) find(a, b uint64) *S {
	if a == 0 {
		a = 1
	}
	for i := a & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		have := s.a.Load()
		if have == 0 {
			if s.a.CompareAndSwap(0, a) {
				s.b.Store(b)
				return &s.state
			}
			have = s.a.Load()
		}
		if have == a && s.second() == b {
			return &s.state
		}
	}
}

// second returns the slot's second identity word, waiting for the goroutine
// that has claimed the slot and not yet written it.
func (s *slot[S]) second() uint64 {
	for {
		if b := s.b.Load(); b != 0 {
			return b
		}
	}
}

// Table is a flat table of token buckets, each a word in a slot of 24 bytes.
type Table struct {
	flat[atomic.Int64]
	limit Limit
}

// NewTable returns a table for the given number of keys.
func NewTable(l Limit, keys int) *Table {
	return &Table{newFlat[atomic.Int64](keys), l}
}

// Allow takes one token of the key's bucket if there is one.
func (t *Table) Allow(key string) bool { return t.allowAt(key, t.micros()) }

func (t *Table) allowAt(key string, micros int64) bool {
	return t.limit.Take(t.find(t.identity(key)), micros)
}
