package memstore

import (
	"sync"
	"sync/atomic"
)

// rest is what fits neither into a slot nor into its tail.
type rest struct {
	f, g int64
	more []int64
}

const (
	restBytes = 40
	restChunk = 256 // how many are made at once
)

// bytes returns the memory that x takes.
func (x *rest) bytes() int64 { return restBytes + 8*int64(cap(x.more)) }

// rests are the rests of all slots. A slot knows its own by number, so that keys
// can move without it.
type rests struct {
	chunks atomic.Pointer[[]*[restChunk]rest]

	mu    sync.Mutex // guards free and adding chunks
	free  []uint32
	spare atomic.Int64 // bytes of the free ones, which stay with the store
}

// at returns the rest with the number in the unit of a slot. Its chunk is there; but
// unless it is asked whether it is, the compiler reads the first line of it to see,
// which costs a wait for memory.
func (r *rests) at(unit uint64) *rest {
	n := unit & restNumber
	if chunk := (*r.chunks.Load())[n/restChunk]; chunk != nil {
		return &chunk[n%restChunk]
	}
	return nil
}

// take returns the unit of a rest that is nobody's.
func (r *rests) take() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) == 0 {
		r.grow()
	}
	n := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	r.spare.Add(-restBytes)
	return far | uint64(n)
}

func (r *rests) grow() {
	var chunks []*[restChunk]rest
	if p := r.chunks.Load(); p != nil {
		chunks = *p
	}
	// Nobody reads beyond the end that he loaded, so append may write there.
	first := uint32(len(chunks) * restChunk)
	chunks = append(chunks, new([restChunk]rest))
	r.chunks.Store(&chunks)
	for i := range uint32(restChunk) {
		r.free = append(r.free, first+restChunk-1-i)
	}
	r.spare.Add(restChunk * restBytes)
}

// give takes back a rest.
func (r *rests) give(unit uint64) {
	*r.at(unit) = rest{}
	r.mu.Lock()
	r.free = append(r.free, uint32(unit&restNumber))
	r.spare.Add(restBytes)
	r.mu.Unlock()
}
