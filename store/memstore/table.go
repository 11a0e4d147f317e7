package memstore

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	reach     = 32 // a key lies within this many slots from its home on, the first after the last
	pathBytes = 16 // of an entry of a directory
)

// The step from slot to slot. A narrow table has a slot in every place of its pages.
// A half and a wide one have a slot in every second or fourth place, and its tail
// between: together one cache line, or two.
const (
	narrow = 1
	half   = 2
	wide   = 4
)

// places returns how many places a page of a table has: room for 128 narrow slots, or
// for 64 with tails, for with fewer of those the directory would not stay in a cache.
func places(step uint) uint { return 128 << (step / wide) }

// pageBytes returns the bytes of a page, with the page itself.
func pageBytes(step uint) int64 { return int64(places(step))*32 + 48 }

// slots are the places of a page, as many as its table has, of which this is the first.
type slots struct{ first slot }

func newSlots(step uint) *slots {
	return (*slots)(unsafe.Pointer(unsafe.SliceData(make([]slot, places(step)))))
}

// at returns the slot in place i, which must be one of them.
func (s *slots) at(i uint) *slot {
	return (*slot)(unsafe.Add(unsafe.Pointer(s), uintptr(i)*unsafe.Sizeof(slot{})))
}

// page is the unit of growth: a full page splits in two, nothing else moves,
// and no memory is thrown away. Keys hash to a page by the bits of a directory
// (extendible hashing) and to a home slot inside it.
type page struct {
	mu    sync.Mutex // guards adding, dropping and moving keys; not their states
	slots atomic.Pointer[slots]
	table *table
	depth uint   // how many directory bits all its keys share
	bits  uint64 // those bits

	version atomic.Uint64 // odd while a key is being added or keys are moved
}

// directory leads from the first bits of a key to its page. The slots stand here
// too, and by themselves: that saves the most common path, a token bucket that is
// there, a hop and some cache.
type directory struct {
	depth uint
	slots []atomic.Pointer[slots]
	pages []atomic.Pointer[page]
}

func newDirectory(depth uint) *directory {
	n := 1 << depth
	return &directory{depth, make([]atomic.Pointer[slots], n), make([]atomic.Pointer[page], n)}
}

// shard is a directory that grows by itself. The shards take unequal shares of
// the keys, so that they do not all split at the same time: the load of all
// pages together stays even however many keys there are.
type shard struct {
	mu  sync.Mutex // guards changes of the directory; taken after a page's
	dir *directory
}

const shards = 16

// shardOf maps the first byte of a hash to a shard. Shard i gets a share that
// grows with 2^(i/16).
var shardOf = func() (of [256]uint8) {
	ends := [shards]int{11, 23, 35, 48, 61, 75, 90, 105, 121, 138, 155, 173, 193, 213, 234, 256}
	s := 0
	for i := range of {
		if i == ends[s] {
			s++
		}
		of[i] = uint8(s)
	}
	return of
}()

// table finds slots by key.
type table struct {
	dirs   [256]atomic.Pointer[directory] // by the first byte of a key: that of its shard
	shards [shards]shard
	step   uint         // from slot to slot: narrow, half or wide
	bytes  atomic.Int64 // of pages and directories
}

// publish makes d the directory of the shard of k.
func (t *table) publish(shard uint8, d *directory) {
	t.shards[shard].dir = d
	for i := range t.dirs {
		if shardOf[i] == shard {
			t.dirs[i].Store(d)
		}
	}
}

func (t *table) init(step uint) {
	t.step = step
	for i := range t.shards {
		d := newDirectory(0)
		d.pages[0].Store(&page{table: t})
		t.publish(uint8(i), d)
	}
}

// bits returns the bits of the key that the directory of its shard uses, the
// first one highest.
func (k key) bits() uint64 { return k.hi << 8 }

// home returns the first place that the key may lie in.
func (k key) home(step uint) uint { return uint(k.lo) * step % places(step) }

// page returns the key's page.
func (t *table) page(k key) *page {
	d := t.dirs[k.hi>>56].Load()
	return d.pages[k.bits()>>(64-d.depth)].Load()
}

// start returns where find looks first, for [prefetch].
func (s *slots) start(k key, step uint) uintptr {
	return uintptr(unsafe.Pointer(s)) + uintptr(k.home(step))*unsafe.Sizeof(slot{})
}

// find returns the key's slot in s and its word, or nil and a dead word. The word
// is read before the identity is known for sure, and so is the key's: a slot that
// changes hands gets its new identity first. There are no slots before the first
// key.
func (s *slots) find(k key, step uint) (*slot, uint64) {
	if s == nil {
		return nil, moved
	}
	for i := range uint(reach) {
		if s := s.at((uint(k.lo) + i) * step % places(step)); s.hi.Load() == k.hi {
			if w := s.word.Load(); s.lo.Load() == k.lo {
				return s, w
			}
		}
	}
	return nil, moved
}

// slots returns the slots of the key's page.
func (t *table) slots(k key) *slots {
	d := t.dirs[k.hi>>56].Load()
	return d.slots[k.bits()>>(64-d.depth)].Load()
}

// find returns the key's slot and its word, which may be dead.
func (t *table) find(k key) (*slot, uint64) { return t.slots(k).find(k, t.step) }

// live returns the key's slot, or nil if it has none or a dead one.
func (p *page) live(k key) *slot {
	if sl, w := p.slots.Load().find(k, p.table.step); w&moved == 0 {
		return sl
	}
	return nil
}

// covers reports whether the page is the one for the key.
func (p *page) covers(k key) bool { return k.bits()>>(64-p.depth) == p.bits }

// view is what a page was like when a key had no live slot in it. As long as it
// holds, the key has none.
type view struct {
	page    *page
	version uint64
}

func (v view) holds(k key) bool {
	return v.page.table.page(k) == v.page && v.page.version.Load() == v.version
}

// absent reports whether the key has no live slot, and the view that shows it.
// A key that is on its way to another page is waited for.
func (t *table) absent(k key) (view, bool) {
	for {
		p := t.page(k)
		v := view{p, p.version.Load()}
		if p.live(k) != nil {
			return view{}, false
		}
		if v.version%2 == 0 && v.holds(k) {
			return v, true
		}
		t.lockPage(k).mu.Unlock()
	}
}
