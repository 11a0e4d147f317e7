package lease

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
)

// ways is how many places a key may stand in.
const ways = 8

// table finds entries without a lock. It never grows: a key that finds none of
// its places free, nor one whose key is idle, gets no entry.
type table struct {
	seed  maphash.Seed
	sets  uint64
	slots []atomic.Pointer[entry]
	mu    sync.Mutex // held by whoever adds
}

func (t *table) init(keys int) {
	size := 1 << bits.Len(uint(max(keys, ways)-1))
	t.seed, t.sets, t.slots = maphash.MakeSeed(), uint64(size/ways), make([]atomic.Pointer[entry], size)
}

func (t *table) hash(key string, shape uint64) uint64 {
	return maphash.String(t.seed, key) ^ shape
}

func (t *table) set(hash uint64) []atomic.Pointer[entry] {
	first := hash & (t.sets - 1) * ways
	return t.slots[first : first+ways]
}

// find returns the entry of a key and a shape, or nil.
func (t *table) find(key string, shape uint64) *entry {
	return t.look(t.hash(key, shape), key, shape)
}

func (t *table) look(hash uint64, key string, shape uint64) *entry {
	set := t.set(hash)
	for i := range set {
		if e := set[i].Load(); e != nil && e.hash == hash && e.shape == shape && e.key == key {
			return e
		}
	}
	return nil
}

// add returns the entry of a key, a new one if need be, or nil if there is no
// place for it.
func (t *table) add(key string, p *plan, now int64) *entry {
	shape := p.of.Shape()
	hash := t.hash(key, shape)
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.look(hash, key, shape); e != nil {
		return e
	}
	set := t.set(hash)
	for i := range set {
		if old := set[i].Load(); old == nil || old.bury(now) {
			e := newEntry(hash, key, shape, p, now)
			set[i].Store(e)
			return e
		}
	}
	return nil
}
