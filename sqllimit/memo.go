package sqllimit

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// A service has few statements and runs them often: what they weigh is remembered.
const (
	memoPlaces = 256  // of two statements each
	memoBytes  = 2048 // of the longest statement that is remembered
)

// memo remembers what statements weigh. Reading it takes no lock. Every statement has
// one place; there the last two are kept, so that texts which never come again drive
// out what is in use only for a moment.
type memo struct {
	newer, older [memoPlaces]atomic.Pointer[remembered]
}

type remembered struct {
	query  string
	weight weight
}

var memoSeed = maphash.MakeSeed()

func (m *memo) weigh(query string) weight {
	if len(query) > memoBytes {
		return weigh(query)
	}
	place := maphash.String(memoSeed, query) % memoPlaces
	newer := m.newer[place].Load()
	if newer != nil && newer.query == query {
		return newer.weight
	}
	if older := m.older[place].Load(); older != nil && older.query == query {
		return older.weight
	}
	w := weigh(query)
	m.older[place].Store(newer)
	m.newer[place].Store(&remembered{strings.Clone(query), w})
	return w
}
