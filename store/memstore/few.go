package memstore

import (
	"math/bits"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// few is the longest call that goes the short way.
const few = 8

// handful is a call over a few token buckets, each a word in a slot of its own: the
// everyday call of rules. It lives on the stack.
type handful struct {
	keys  [few]key
	pages [few]*slots
	slots [few]*slot
	words [few]uint64 // of the held slots
	nexts [few]uint64 // what becomes of them if all is allowed
	order [few]uint8  // the checks, sorted by key
}

// takeFew is takeAll for a handful, with the same answers and the same states after
// it. It reports whether the call was one; if not, it has changed no state.
func (s *Store) takeFew(checks []store.Check) bool {
	return allWords(checks) && s.takeWords(checks)
}

// takeWords is takeFew for checks that are few, and their states words.
func (s *Store) takeWords(checks []store.Check) bool {
	var h handful
	h.hash(s, checks)
	if !h.sort(len(checks)) || !h.find(len(checks)) || !h.hold(len(checks)) {
		return false
	}
	now := s.clock.Now() // while all are held, so that no key sees time go back unless the clock does
	allowed, ok := h.decide(checks, now-s.epoch)
	if !ok {
		h.release(h.order[:len(checks)])
		return false
	}
	for i := range checks {
		c := &checks[i]
		c.Now = now
		if allowed && c.Verdict.Allowed && c.Cost > 0 {
			if c.MaxWait > 0 || c.Want > 0 { // else nobody asks for it
				c.Mark = c.Spec.BucketMark(c.Verdict, now)
			}
			h.slots[i].spend(h.nexts[i])
			continue
		}
		h.slots[i].word.Store(h.words[i])
		if !c.Verdict.Allowed {
			s.mark(h.slots[i])
		}
	}
	return true
}

// allWords reports whether the checks are few, and their states words.
func allWords(checks []store.Check) bool {
	for i := range checks {
		if checks[i].Spec.WordUnit() == 0 {
			return false
		}
	}
	return len(checks) <= few
}

// everyday reports whether the checks of a Spend are a handful without any fault or
// shadow: what nearly all are, told by few questions.
func everyday(checks []store.Check) bool {
	for i := range checks {
		c := &checks[i]
		if uint(len(c.Key)-1) >= store.MaxKey || uint64(c.Cost) > algo.MaxCount || c.Spec.WordUnit() == 0 || c.Shadow {
			return false
		}
	}
	return uint(len(checks)-2) <= few-2
}

// hash hashes the keys, and lets their slots be fetched before any of them is needed:
// all at the same time.
func (h *handful) hash(s *Store, checks []store.Check) {
	for i := range checks {
		c := &checks[i]
		k := s.hash.key(c.Key, c.Spec.Shape())
		page := s.table.slots(k)
		prefetch(page.start(k, narrow))
		h.keys[i], h.pages[i] = k, page
	}
}

// sort finds the order in which all callers hold the keys (see [key.compare]): the
// place of each is the number of those before it, counted without a branch that
// nobody could foresee. It fails if two are the same, which their first halves tell
// well enough.
func (h *handful) sort(n int) bool {
	if n == 3 {
		return h.sortThree()
	}
	var places [few]uint8
	for i := 1; i < n; i++ {
		for j := range i {
			if h.keys[i].hi == h.keys[j].hi {
				return false
			}
			less := before(h.keys[i].hi, h.keys[j].hi)
			places[j] += less
			places[i] += 1 - less
		}
	}
	for i := range n {
		h.order[places[i]%few] = uint8(i)
	}
	return true
}

// sortThree is sort for what is asked most often of all, without its loops.
func (h *handful) sortThree() bool {
	a, b, c := h.keys[0].hi, h.keys[1].hi, h.keys[2].hi
	ba, ca, cb := before(b, a), before(c, a), before(c, b)
	h.order[(ba+ca)%few] = 0
	h.order[(1-ba+cb)%few] = 1
	h.order[(2-ca-cb)%few] = 2
	return a != b && a != c && b != c
}

// before returns 1 if a comes before b, else 0.
func before(a, b uint64) uint8 {
	_, less := bits.Sub64(a, b, 0)
	return uint8(less)
}

// find fails if a key has no slot.
func (h *handful) find(n int) bool {
	for i := range n {
		sl, w := h.pages[i].find(h.keys[i], narrow)
		if w&moved != 0 {
			return false
		}
		h.slots[i] = sl
	}
	return true
}

// hold holds the slots. Whoever meets a dead one lets go of all, because the one
// who is moving it may be waiting for a slot of ours.
func (h *handful) hold(n int) (ok bool) {
	for j, i := range h.order[:n] {
		if h.words[i], ok = h.slots[i].hold(h.keys[i]); !ok {
			h.release(h.order[:j])
			return false
		}
	}
	return true
}

// release lets go of slots, whose words stay.
func (h *handful) release(order []uint8) {
	for _, i := range order {
		h.slots[i].word.Store(h.words[i])
	}
}

// decide decides all checks at one instant, in µs since the epoch, and writes
// nothing but verdicts. It reports whether what is allowed may be spent. It fails if a
// state is no word in the unit of its limit, or has to be cut.
func (h *handful) decide(checks []store.Check, now int64) (allowed, ok bool) {
	if uint64(now) > algo.MaxWordTime {
		return false, false
	}
	allowed = true
	for i := range checks {
		c, unit := &checks[i], h.slots[i].unitOf()
		if unit != c.Spec.WordUnit() {
			return false, false
		}
		next, due, easy := c.Spec.TakeWord(h.words[i], now, c.Cost)
		if easy && due <= c.Spec.WordCapacity() {
			h.nexts[i] = next
			c.Verdict = algo.Verdict{Allowed: true, Y: due}
		} else if !h.decideHard(i, c, now) {
			return false, false
		}
		if v := &c.Verdict; unit == 1 {
			v.X, v.Y = v.Y, 0
		} else {
			v.X, v.Y = v.Y/int64(unit), v.Y%int64(unit)
		}
		allowed = allowed && !c.Refuses()
	}
	return allowed, true
}

// decideHard decides check i if it is denied, has to wait or is anything else that is
// rare. The verdict's Y is in parts of a µs.
func (h *handful) decideHard(i int, c *store.Check, now int64) bool {
	cut := false
	h.nexts[i], c.Verdict, cut = c.Spec.DecideWord(h.words[i], now, c.Cost, c.MaxWait)
	return !cut && !c.Verdict.Never
}

// spend writes the word of a held slot, which has something spent from it, and
// releases it. Whoever gets what he asked for no longer is in need of a mark.
func (s *slot) spend(next uint64) {
	if s.unit.Load()&asked != 0 {
		s.unit.And(^asked)
	}
	s.word.Store(next)
}
