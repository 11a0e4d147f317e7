package memstore

import (
	"unsafe"

	"github.com/sluice-limiter/sluice/algo"
)

// tail is what a wide slot has behind it: State.F, and the counts of a usual window, a
// warm-up, or a log of a few entries. It takes the rest of two cache lines of which
// the slot is the beginning, so a decision waits for memory once.
type tail [12]int64

// tailCounts is how many numbers of State.More fit.
const tailCounts = len(tail{}) - 1

// needsTail reports whether the states of p go to the wide table. All limits of one
// shape agree in that.
func needsTail(p *algo.Spec) bool {
	switch p.Kind {
	case algo.WarmUp, algo.SlidingLog:
		return true
	case algo.SlidingWindow:
		return p.Sub <= int64(tailCounts)
	}
	return false
}

// tableOf returns the table of the states of p.
func (s *Store) tableOf(p *algo.Spec) *table {
	if needsTail(p) {
		return &s.wide
	}
	return &s.table
}

// tail returns the tail of a slot of the wide table.
func (s *slot) tail() *tail {
	return (*tail)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(*s)))
}

// load reads a state that was saved with the unit. Its counts stay where they are.
func (t *tail) load(st *algo.State, unit uint64) {
	n := unit & tailLength
	if unit&bare != 0 {
		st.More = t[:n]
		return
	}
	st.F, st.More = t[0], t[1:1+n]
}

// saveNear writes what does not fit into a wide slot into its tail. It fails if that
// is too small; and a key that once needed a rest keeps it.
func (s *slot) saveNear(st *algo.State) bool {
	unit := s.unit.Load()
	if unit&far != 0 || st.G != 0 || len(st.More) > tailCounts {
		return false
	}
	t, now := s.tail(), near|uint64(len(st.More))
	counts := t[1:]
	if st.F == 0 {
		counts, now = t[:], now|bare
	}
	if len(st.More) > 0 && &st.More[0] != &counts[0] {
		copy(counts, st.More)
	}
	if st.F != 0 {
		t[0] = st.F
	}
	if now != unit {
		s.unit.Store(now) // without marks
	}
	return true
}
