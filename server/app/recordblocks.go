package app

import (
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// block is a run of sightings of one shard.
type block struct {
	base time.Time
	n    int
	last int64 // µs from base to the newest
	seen [512]sighting
}

// blockLife is how long a block is written to, so that the clock of the newest sighting
// does not stray far from that on the wall.
const blockLife = 24 * time.Hour

// add writes a sighting down, unless the block is full. A gap that is too long for one
// sighting is filled with some of nobody. Clocks that go back are no reason to write down
// another order.
func (b *block) add(passed time.Duration, who uint64, cost uint32) bool {
	gap := max(passed.Microseconds()-b.last, 0)
	if b.n+int(gap/math.MaxUint32) >= len(b.seen) {
		return false
	}
	b.last += gap
	for ; gap > math.MaxUint32; gap -= math.MaxUint32 {
		b.seen[b.n] = sighting{after: math.MaxUint32}
		b.n++
	}
	b.seen[b.n] = sighting{who: who, after: uint32(gap), cost: cost}
	b.n++
	return true
}

const blockBytes = int64(unsafe.Sizeof(block{}))

// ends returns when the newest sighting was, in µs since 1970.
func (b *block) ends() int64 { return b.base.UnixMicro() + b.last }

// blockPool holds the blocks that are full, oldest first, and reuses those that are too
// old or have to make room. It is asked once in 512 decisions of a shard.
type blockPool struct {
	most int   // blocks there may be
	age  int64 // µs for which sightings are kept

	mu      sync.Mutex // guards all below
	full    []*block
	made    int
	readers int   // while somebody reads, blocks that are dropped are not written to
	cut     int64 // everything up to this instant may be forgotten; 0: nothing was for lack of room
}

// next takes a full block, which may be nil, and returns an empty one.
func (p *blockPool) next(full *block, now time.Time) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if full != nil {
		p.full = append(p.full, full)
	}
	var b *block
	for len(p.full) > 0 && p.full[0].ends() < now.UnixMicro()-p.age {
		b = p.drop(b)
	}
	if b == nil && p.made >= p.most && len(p.full) > 0 {
		p.cut = max(p.cut, p.full[0].ends())
		b = p.drop(b)
	}
	if b == nil {
		b = new(block)
		p.made++
	}
	b.base, b.n, b.last = now, 0, 0
	return b
}

// drop takes the oldest block out, and returns the one to use: have if there is one.
func (p *blockPool) drop(have *block) *block {
	oldest := p.full[0]
	p.full = slices.Delete(p.full, 0, 1)
	if have != nil || p.readers > 0 {
		p.made-- // the collector takes it
		return have
	}
	return oldest
}

// read returns all full blocks, oldest first, and from when on they are complete. They
// stay as they are until done is called.
func (p *blockPool) read() (full []*block, cut int64, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers++
	return slices.Clone(p.full), p.cut, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.readers--
	}
}
