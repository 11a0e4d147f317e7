package sqllimit

import (
	"maps"
	"strings"
	"sync/atomic"
)

// A service has few statements and runs them often: their classes are remembered.
const (
	memoSize  = 256  // statements; those that come later are read each time
	memoBytes = 2048 // of the longest statement that is remembered
)

// memo remembers what Classify said. Reading it takes no lock.
type memo struct {
	known atomic.Pointer[map[string]Class] // never changed, only replaced
}

func (m *memo) classify(query string) Class {
	known := m.known.Load()
	if known == nil {
		known = &map[string]Class{}
	}
	if class, ok := (*known)[query]; ok {
		return class
	}
	class := Classify(query)
	if len(*known) < memoSize && len(query) <= memoBytes {
		next := maps.Clone(*known)
		next[strings.Clone(query)] = class
		m.known.Store(&next) // of two at the same time one is forgotten, and comes again
	}
	return class
}
