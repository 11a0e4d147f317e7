package memstore

import (
	"unsafe"

	"github.com/sluice-limiter/sluice/algo"
)

// A slot of a half or a wide table has a tail behind it, the rest of the one or two cache
// lines of which the slot is the beginning, so a decision waits for memory once. It
// holds State.F unless that is zero, and State.More: a warm-up, the counts of a usual
// window, or a log of a few entries.

// tailWords returns how many words a tail has.
func tailWords(step uint) int { return 4 * int(step-1) }

// stepOf returns the step of the table of the states of p. All limits of one shape agree
// in that.
func stepOf(p *algo.Spec) uint {
	switch p.Kind {
	case algo.WarmUp:
		return half
	case algo.SlidingLog:
		return wide
	case algo.SlidingWindow:
		switch need := int(p.Sub) + 1; {
		case need <= tailWords(half):
			return half
		case need <= tailWords(wide):
			return wide
		}
	}
	return narrow
}

// tableOf returns the table of the states of p.
func (s *Store) tableOf(p *algo.Spec) *table {
	switch stepOf(p) {
	case half:
		return &s.half
	case wide:
		return &s.wide
	}
	return &s.table
}

// tables returns all tables.
func (s *Store) tables() [3]*table { return [3]*table{&s.table, &s.half, &s.wide} }

// tail returns the tail of a slot with the unit.
func (s *slot) tail(unit uint64) []int64 {
	words := tailWords(half)
	if unit&ample != 0 {
		words = tailWords(wide)
	}
	return unsafe.Slice((*int64)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(*s))), words)
}

// loadNear reads a state that was saved with the unit. Its counts stay where they are.
func (s *slot) loadNear(st *algo.State, unit uint64) {
	t := s.tail(unit)
	if unit&bare == 0 {
		st.F, t = t[0], t[1:]
	}
	st.More = t[:unit&tailLength]
}

// saveNear writes what does not fit into a slot of a table with the step into its tail. It
// fails if that is too small; and a key that once needed a rest keeps it.
func (s *slot) saveNear(st *algo.State, step uint) bool {
	unit, now := s.unit.Load(), near|uint64(len(st.More))
	if step == narrow || unit&far != 0 || st.G != 0 {
		return false
	}
	if step == wide {
		now |= ample
	}
	t := s.tail(now)
	counts := t[1:]
	if st.F == 0 {
		counts, now = t, now|bare
	}
	if len(st.More) > len(counts) {
		return false
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

// remember keeps, in the tail of a wide slot whose state lies far from it, where both ends
// of that are: only to have them fetched, so what is not true any more does no harm.
func (s *slot) remember(more []int64) {
	t := s.tail(ample)
	t[0] = int64(uintptr(unsafe.Pointer(unsafe.SliceData(more))))
	t[1] = t[0] + 8*int64(max(0, len(more)-2))
}

// prefetchFar fetches both ends of a state at the same time as its rest, which tells where
// they are.
func (s *slot) prefetchFar() {
	t := s.tail(ample)
	prefetch(uintptr(t[0]))
	prefetch(uintptr(t[1]))
}
