package memstore

import (
	"runtime"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/algo"
)

// Flags of a slot's word, above those of algo. A moved slot is dead: its key
// was copied elsewhere or dropped, and must be looked up again. A held slot
// belongs to one goroutine until it is released.
const (
	moved uint64 = 1 << 63
	held  uint64 = 1 << 62
	flags        = moved | held
)

// Marks beside a slot's unit. An asked key was denied while the store was at its
// cap: somebody is asking for it, so it is forgotten after the others. A pinned
// key is about to be held together with others and is not forgotten now.
const (
	asked  uint64 = 1 << 63
	pinned uint64 = 1 << 62
	marks         = asked | pinned
)

// aside is the zero of words that are no words: a word without a unit counts µs
// from there, so that instants before the epoch fit too.
const aside = 1 << 60

// small marks a unit that is none: it holds State.F and State.G, as one number of
// 56 bits, or, with pair, as two of 28.
const (
	small     uint64 = 1 << 60
	pair      uint64 = 1 << 59
	wideBits         = 56
	pairBits         = 28
	pairLimit        = 1<<pairBits - 1
)

// far marks a unit that is none either: it holds the number of a [rest].
const (
	far        uint64 = 1 << 61
	long       uint64 = 1 << 40 // beside far: its rest has memory of its own
	restNumber        = 1<<32 - 1
)

// near marks a unit that is none either: it holds the number of counts in the slot's
// tail.
const (
	near       uint64 = 1 << 58
	bare       uint64 = 1 << 57 // beside near: State.F is zero, and not there
	ample      uint64 = 1 << 56 // beside near or far: the tail is that of a wide slot
	tailLength        = 15
)

// slot holds one key. A token bucket whose state fits into a word lives in the
// slot alone, unit tells in which parts of a µs the word counts, and it is
// decided by one compare-and-swap. Otherwise the word is State.T from aside, the
// rest of the state is in the unit if it is small, in the tail behind the slot, or in
// a [rest] far from here; and all of it belongs to whoever holds the slot.
type slot struct {
	hi, lo atomic.Uint64 // whose: 128 bits of seeded hash; both zero: nobody's yet
	word   atomic.Uint64
	unit   atomic.Uint64
}

func (s *slot) is(k key) bool { return s.hi.Load() == k.hi && s.lo.Load() == k.lo }

// unitOf returns the unit without its marks.
func (s *slot) unitOf() uint64 { return s.unit.Load() &^ marks }

// hold waits until nobody holds the slot, takes it, and returns its word. It fails if the slot is
// dead or no longer the key's: to wait for another key's holder would break the
// order in which keys are held.
func (s *slot) hold(k key) (uint64, bool) {
	for spins := 0; ; spins++ {
		w := s.word.Load()
		switch {
		case w&moved != 0:
			return 0, false
		case w&held != 0:
			if !s.is(k) {
				return 0, false
			}
			pause(spins)
		case s.word.CompareAndSwap(w, w|held):
			if s.is(k) {
				return w, true
			}
			s.word.Store(w)
			return 0, false
		}
	}
}

// swap writes the word if it is still w, and the key's.
func (s *slot) swap(k key, w, next uint64) bool {
	if !s.word.CompareAndSwap(w, next) {
		return false
	}
	if s.is(k) {
		return true
	}
	// Between the look at the identity and the swap the slot was given to a key
	// that happened to get into the very same state: undo.
	s.word.CompareAndSwap(next, w)
	return false
}

// release gives a held slot back unchanged.
func (s *slot) release() { s.word.Store(s.word.Load() &^ held) }

// kill makes a live slot dead, unless it is held or has changed since w was
// read.
func (s *slot) kill(w uint64) bool {
	return w&flags == 0 && s.word.CompareAndSwap(w, w|moved)
}

// idleSince returns the instant, in µs since the epoch, after which the state w
// of a slot carries no information.
func (s *slot) idleSince(w uint64) int64 {
	t := int64(w &^ (flags | algo.WordAhead))
	switch unit := int64(s.unitOf()); {
	case t == 0 || unit == 1:
		return t
	case unit == 0 || uint64(unit)&(small|near|far) != 0:
		return t - aside
	default:
		return t / unit
	}
}

// wordFits reports whether a state of p, now being in µs since the epoch, can be
// kept in a word.
func wordFits(p *algo.Spec, now int64) bool {
	return p.WordUnit() != 0 && uint64(now) <= algo.MaxWordTime
}

// load reads the state of a held slot, whose word was w, into st, which is zero; x is
// its rest, if it has one.
func (s *slot) load(st *algo.State, w uint64, x *rest, epoch int64) {
	w, unit := w&^flags, s.unitOf()
	switch {
	case unit&small != 0:
		st.F, st.G = splitUnit(unit)
	case unit&near != 0:
		s.loadNear(st, unit)
	case unit != 0 && unit&far == 0:
		*st = algo.WordState(w, unit, epoch)
		return
	case x != nil:
		st.F, st.G, st.More = x.f, x.g, x.more
	default: // nothing was spent yet: the word only says when the slot was added
		return
	}
	st.Ahead = w&algo.WordAhead != 0
	if t := int64(w &^ algo.WordAhead); t > 0 {
		st.T = t - aside + epoch
	}
}

// smallUnit returns the unit that holds what is left of a state beside T, if it
// is small enough.
func smallUnit(st *algo.State) (unit uint64, ok bool) {
	f, g := uint64(st.F), uint64(st.G)
	switch {
	case len(st.More) > 0:
	case g == 0 && f < 1<<wideBits:
		return small | f, true
	case f <= pairLimit && g <= pairLimit:
		return small | pair | g<<pairBits | f, true
	}
	return 0, false
}

func splitUnit(unit uint64) (f, g int64) {
	if unit&pair != 0 {
		return int64(unit & pairLimit), int64(unit >> pairBits & pairLimit)
	}
	return int64(unit & (1<<wideBits - 1)), 0
}

// stateWord returns the word of a state that is kept without a unit.
func stateWord(st *algo.State, epoch int64) (w uint64) {
	if st.T != 0 {
		w = uint64(st.T - epoch + aside)
	}
	if st.Ahead {
		w |= algo.WordAhead
	}
	return w
}

// pause lets the holder of a slot get on.
func pause(spins int) {
	if spins > 16 {
		runtime.Gosched()
	}
}
