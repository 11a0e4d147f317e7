package memstore

import (
	"slices"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// part is one check of a call over several.
type part struct {
	*store.Check
	key    key
	slot   *slot        // the held one
	word   uint64       // its word before
	first  int          // the part that has the same state and comes first: itself if it is the first
	twice  bool         // the first of several parts with the same state
	none   bool         // there is no slot, and none is needed
	seen   view         // by which there is no slot, unless the limit is stateless
	fresh  uint64       // the word of a slot that was added for this call
	again  bool         // a repeated reservation, which was decided before
	booked *reservation // that is settled now
	state  algo.State
	last   *algo.Spec // the last to have changed the state
}

// several is a call over several checks.
type several struct {
	op    store.Op
	parts []part
	order []int // the parts, sorted by key
}

// severals are used again, so that no call allocates.
var severals = sync.Pool{New: func() any { return new(several) }}

func newSeveral(op store.Op) *several {
	d := severals.Get().(*several)
	d.op = op
	return d
}

// fill makes the parts, where they are: they are too large to be copied for nothing.
func (d *several) fill(s *Store, checks []store.Check) {
	if cap(d.parts) < len(checks) {
		d.parts = make([]part, len(checks))
	}
	d.parts = d.parts[:len(checks)]
	for i := range checks {
		c := &checks[i]
		d.parts[i].Check, d.parts[i].key = c, s.hash.key(c.Key, c.Spec.Shape())
		d.order = append(d.order, i)
	}
}

// done gives back d, whose parts are zero again: it keeps no reference to anybody's
// checks.
func (d *several) done() {
	clear(d.parts)
	d.parts, d.order = d.parts[:0], d.order[:0]
	if cap(d.parts) <= 64 {
		severals.Put(d)
	}
}

// holdAll holds the slot of every check, in one order for all callers so that
// they cannot wait for each other in a circle.
func (s *Store) holdAll(d *several, checks []store.Check) {
	d.fill(s, checks)
	slices.SortStableFunc(d.order, func(a, b int) int {
		return d.parts[a].key.compare(d.parts[b].key)
	})
	for n, i := range d.order {
		d.parts[i].first = i
		if n > 0 && d.parts[d.order[n-1]].key == d.parts[i].key {
			d.parts[i].first = d.parts[d.order[n-1]].first
			d.parts[d.parts[i].first].twice = true
		}
	}
	s.holdAgain(d, false)
}

// holdAgain is holdAll for parts that are in order already. Who failed once pins
// the keys: at the cap, room for one of them may be made by forgetting another.
func (s *Store) holdAgain(d *several, pin bool) {
	for !s.tryHoldAll(d, pin) {
		pin = true
	}
}

// tryHoldAll first makes sure that every key has a slot that needs one, and then
// holds them. Whoever meets a dead slot then lets go of everything, because the
// one who is moving it may be waiting for a slot of ours; likewise if a key has
// come that was not there.
func (s *Store) tryHoldAll(d *several, pin bool) bool {
	for i := range d.parts {
		s.addPart(d, i, pin)
	}
	for n, i := range d.order {
		p := &d.parts[i]
		if p.first != i || p.none {
			continue
		}
		t := s.tableOf(p.Spec)
		if p.slot, p.word = s.tryHold(t.slots(p.key), p.key, t.step); p.slot == nil {
			d.releaseAll(d.order[:n])
			return false
		}
	}
	if !s.stillAbsent(d) {
		d.releaseAll(d.order)
		return false
	}
	return true
}

// addPart makes sure that a part has a slot if it needs one.
func (s *Store) addPart(d *several, i int, pin bool) {
	p := &d.parts[i]
	p.slot, p.none, p.seen = nil, false, view{}
	if p.first != i {
		return
	}
	if p.none = stateless(p.Spec); p.none {
		return
	}
	t := s.tableOf(p.Spec)
	if _, w := t.find(p.key); w&moved == 0 && !pin {
		return
	}
	needed := s.needed(d, i) // before the look at the table: a reservation that comes later changes that
	p.seen, p.none = t.absent(p.key)
	if p.none && !needed || !p.none && !pin {
		return
	}
	now := s.clock.Now()
	a := addition{key: p.key, unit: s.unitFor(p.Spec, now), now: now - s.epoch, table: t, pin: pin}
	a.word = freshWord(a.unit, a.now)
	if _, added := s.add(a); added {
		p.fresh = a.word
	}
	p.none = false
}

// needed reports whether anything will be spent from the state of part i.
func (s *Store) needed(d *several, i int) bool {
	for j := range d.parts {
		p := &d.parts[j]
		if p.first != i || p.Cost == 0 {
			continue
		}
		if d.op == store.Spend || d.op == store.Reserve || d.op == store.Commit && s.owes(p) {
			return true
		}
	}
	return false
}

// stillAbsent reports whether the keys without a slot have none now that all
// others are held: the call sees all of them at one instant.
func (s *Store) stillAbsent(d *several) bool {
	for i := range d.parts {
		if p := &d.parts[i]; p.seen.page != nil && p.none && !p.seen.holds(p.key) {
			return false
		}
	}
	return true
}

func (d *several) releaseAll(order []int) {
	for _, i := range order {
		d.parts[i].leave()
	}
}

// leave releases a part's slot with its state unchanged. A slot that was added
// for this call and spent nothing is as good as never used.
func (p *part) leave() {
	if p.slot == nil {
		return
	}
	if p.slot.unit.Load()&pinned != 0 {
		p.slot.unit.And(^pinned)
	}
	if p.word == p.fresh {
		p.slot.word.Store(0)
	} else {
		p.slot.word.Store(p.word)
	}
}

// stateless tells the limits that remember nothing.
func stateless(p *algo.Spec) bool { return p.Kind == algo.Unlimited || p.Kind == algo.Ban }

// loadAll reads the states of all parts, which are held.
func (s *Store) loadAll(d *several) {
	for i := range d.parts {
		p := &d.parts[i]
		if p.slot != nil && p.word != p.fresh {
			s.load(&p.state, p.slot, p.word)
		}
	}
}

// writeAll saves what was changed and lets go of everything.
func (s *Store) writeAll(d *several, now int64) {
	grew := false
	for i := range d.parts {
		switch p := &d.parts[i]; {
		case p.slot == nil:
		case d.op == store.Reset:
			s.drop(p.slot)
		case p.last != nil:
			grew = s.save(p.slot, p.last, &p.state, s.at(p.last, now)) || grew
		default:
			p.leave()
			if !p.Verdict.Allowed && d.op <= store.Reserve {
				s.mark(p.slot)
			}
		}
	}
	if grew {
		s.relieve(now - s.epoch)
	}
}

// drop forgets the key of a held slot.
func (s *Store) drop(sl *slot) {
	s.dropRest(sl)
	s.keys.Add(-1)
	sl.word.Store(moved)
}
