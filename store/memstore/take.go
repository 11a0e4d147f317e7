package memstore

import (
	"unsafe"

	"github.com/sluice-limiter/sluice/algo"
)

// take decides one check, now or not at all. The answer goes to v, which is zero:
// verdicts are too large to be copied from one function to the next for nothing.
func (s *Store) take(v *algo.Verdict, k key, p *algo.Spec, cost int64) {
	switch {
	case p.WordUnit() != 0:
		s.takeWord(v, k, p, cost)
	case stateless(p):
		*v = algo.Check(p, &algo.State{}, 0, cost, 0)
	default:
		s.takeHeld(v, k, p, cost)
	}
}

// takeWord decides a token bucket with one compare-and-swap.
func (s *Store) takeWord(v *algo.Verdict, k key, p *algo.Spec, cost int64) {
	now := s.clock.Now() - s.epoch
	if !wordFits(p, now) {
		s.takeHeld(v, k, p, cost)
		return
	}
	for spins := 0; ; spins++ {
		sl, w := s.table.find(k)
		if w&flags != 0 {
			if w&moved != 0 && s.takeFirst(v, k, p, now, cost) {
				return
			}
			pause(spins)
			continue
		}
		if sl.unitOf() != p.WordUnit() {
			s.takeHeld(v, k, p, cost)
			return
		}
		next, verdict, cut := p.DecideWord(w, now, cost, 0)
		if cut { // a later instant than ours may have written it; or the clock did go back
			s.takeHeld(v, k, p, cost)
			return
		}
		if next == w {
			if sl.word.Load() != w || !sl.is(k) {
				continue // the slot changed hands while we looked
			}
			if !verdict.Allowed {
				s.mark(sl)
			}
			*v = verdict
			return
		}
		if sl.swap(k, w, next) {
			*v = verdict
			return
		}
	}
}

// takeFirst decides a token bucket whose key seems to have no slot, and adds it
// as it is after the spend. It fails if the key has one after all.
func (s *Store) takeFirst(v *algo.Verdict, k key, p *algo.Spec, now, cost int64) (ok bool) {
	next, verdict, _ := p.DecideWord(0, now, cost, 0)
	if !verdict.Allowed || cost == 0 { // nothing to remember
		_, ok = s.table.absent(k)
	} else {
		_, ok = s.add(addition{table: &s.table, key: k, unit: p.WordUnit(), word: next, now: now})
	}
	if ok {
		*v = verdict
	}
	return ok
}

// takeHeld decides one check on a slot that it holds. Every algorithm can be
// decided like this. The clock is read while the slot is fetched, and again while it
// is held if the state may have been written since, so a key never sees time go back
// unless the clock does.
func (s *Store) takeHeld(v *algo.Verdict, k key, p *algo.Spec, cost int64) {
	t, at := s.tableOf(p), int64(0)
	page := t.slots(k)
	if p.Dated() {
		prefetch(page.start(k, t.step))
		at = s.at(p, s.clock.Now())
	}
	sl, w := s.tryHold(page, k, t.step)
	if sl == nil {
		sl, w = s.holdKey(t, k)
	}
	if sl == nil {
		if sl, w = s.addHeld(v, t, k, p, cost); sl == nil {
			return
		}
	}
	var st algo.State
	s.load(&st, sl, w)
	early := !p.Overtaken(&st, at)
	if !early {
		at = s.at(p, s.clock.Now())
	}
	changed := algo.DecideTo(v, p, &st, at, cost, 0)
	if early && !v.Allowed && p.Kind == algo.WeightedWindow { // of which more is free by now
		*v, at = algo.Verdict{}, s.at(p, s.clock.Now())
		changed = algo.DecideTo(v, p, &st, at, cost, 0)
	}
	if changed {
		if s.save(sl, p, &st, at) {
			s.relieve(at - s.epoch)
		}
		return
	}
	sl.word.Store(w)
	if !v.Allowed {
		s.mark(sl)
	}
}

// addHeld adds a key that seems to have no slot, and returns that, held, with its word. It
// returns nil if there is nothing to remember; the answer is in v then.
func (s *Store) addHeld(v *algo.Verdict, t *table, k key, p *algo.Spec, cost int64) (*slot, uint64) {
	for {
		now := s.clock.Now()
		*v = algo.Check(p, &algo.State{}, s.at(p, now), cost, 0)
		if !v.Allowed || cost == 0 {
			return nil, 0
		}
		*v = algo.Verdict{}
		// Zero and held: it is ours, and new.
		a := addition{key: k, unit: s.unitFor(p, now), word: held, now: now - s.epoch, table: t}
		if sl, added := s.add(a); added {
			return sl, 0
		}
		if sl, w := s.holdKey(t, k); sl != nil {
			return sl, w
		}
	}
}

// at returns the instant by which p decides: windows follow the time of day.
func (s *Store) at(p *algo.Spec, now int64) int64 {
	if p.Wall() {
		return s.clock.Wall(now)
	}
	return now
}

// holdKey finds the key's slot, holds it, and returns it with its word. It returns
// nil if the key has none.
func (s *Store) holdKey(t *table, k key) (*slot, uint64) {
	for {
		if sl, w := s.tryHold(t.slots(k), k, t.step); sl != nil {
			return sl, w
		}
		if _, absent := t.absent(k); absent {
			return nil, 0
		}
	}
}

// tryHold holds the slot that the key seems to have in its page, and returns it with its
// word. It returns nil if that was dead or none. What lies far from the slot is fetched
// meanwhile.
func (s *Store) tryHold(page *slots, k key, step uint) (*slot, uint64) {
	sl, w := page.find(k, step)
	if w&moved != 0 {
		return nil, 0
	}
	if unit := sl.unit.Load(); unit&far != 0 {
		prefetch(uintptr(unsafe.Pointer(s.rests.at(unit))))
	}
	w, ok := sl.hold(k)
	if !ok {
		return nil, 0
	}
	return sl, w
}

// unitFor returns the unit of a new state of p.
func (s *Store) unitFor(p *algo.Spec, now int64) uint64 {
	if wordFits(p, now-s.epoch) {
		return p.WordUnit()
	}
	return 0
}

// load reads the state of a held slot, whose word was w, into st, which is zero.
func (s *Store) load(st *algo.State, sl *slot, w uint64) {
	var x *rest
	if unit := sl.unit.Load(); unit&far != 0 {
		if unit&ample != 0 {
			sl.prefetchFar()
		}
		x = s.rests.at(unit)
	}
	sl.load(st, w, x, s.epoch)
}

// save writes the state of a held slot and releases it. It reports whether the
// state grew.
func (s *Store) save(sl *slot, p *algo.Spec, st *algo.State, now int64) (grew bool) {
	if wordFits(p, now-s.epoch) {
		s.dropRest(sl)
		sl.unit.Store(p.WordUnit())
		sl.word.Store(p.StateWord(st, s.epoch))
		return false
	}
	if unit, ok := smallUnit(st); ok {
		s.dropRest(sl)
		sl.unit.Store(unit)
	} else if step := stepOf(p); !sl.saveNear(st, step) {
		grew = s.saveFar(sl, st, step)
	}
	sl.word.Store(stateWord(st, s.epoch))
	return grew
}

// saveFar writes what does not fit into the slot.
func (s *Store) saveFar(sl *slot, st *algo.State, step uint) (grew bool) {
	unit := sl.unit.Load() &^ marks
	fresh := unit&far == 0
	if fresh {
		unit = s.rests.take()
	}
	x := s.rests.at(unit)
	had := x.bytes()
	if fresh {
		had = 0
	}
	*x = rest{st.F, st.G, st.More}
	if x.bytes() > restBytes {
		unit |= long
	}
	if step == wide {
		unit |= ample
		sl.remember(x.more)
	}
	if sl.unit.Load() != unit {
		sl.unit.Store(unit) // without marks
	}
	if more := x.bytes() - had; more != 0 {
		s.beside.Add(more)
		return more > 0
	}
	return false
}

// dropRest gives back the rest of a slot that is held or dead, if it has one.
func (s *Store) dropRest(sl *slot) {
	if unit := sl.unit.Load(); unit&far != 0 {
		sl.unit.Store(0)
		s.beside.Add(-s.rests.at(unit).bytes())
		s.rests.give(unit)
	}
}
