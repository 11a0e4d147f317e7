package redisstore

import (
	"math/rand/v2"
	"sync/atomic"
)

// Stats are figures of a store since it was made.
type Stats struct {
	DenialHits int64 // calls of Take that a remembered denial answered, so that nothing was sent
}

// Stats returns the store's figures.
func (s *Store) Stats() Stats { return Stats{DenialHits: s.hits.sum()} }

// tally counts in several places: a hot key that is denied is asked for by all
// processors at once, and they must not wait for each other.
type tally [16]struct {
	n atomic.Int64
	_ [56]byte // a cache line for each
}

func (t *tally) add() { t[rand.Uint32()%uint32(len(t))].n.Add(1) }

func (t *tally) sum() (total int64) {
	for i := range t {
		total += t[i].n.Load()
	}
	return total
}
