package memstore

import "github.com/sluice-limiter/sluice/algo"

// take decides one check.
func (s *Store) take(k key, p *algo.Spec, cost, maxWait int64) algo.Verdict {
	if p.WordUnit() != 0 {
		return s.takeWord(k, p, cost, maxWait)
	}
	if p.Kind == algo.Unlimited || p.Kind == algo.Ban {
		return algo.Check(p, &algo.State{}, 0, cost, maxWait)
	}
	return s.takeHeld(k, p, cost, maxWait)
}

// takeWord decides a token bucket with one compare-and-swap.
func (s *Store) takeWord(k key, p *algo.Spec, cost, maxWait int64) algo.Verdict {
	now := s.clock.Now() - s.epoch
	if !wordFits(p, now) {
		return s.takeHeld(k, p, cost, maxWait)
	}
	for spins := 0; ; spins++ {
		sl, w := s.table.find(k)
		if w&flags != 0 {
			if w&moved != 0 {
				if v, ok := s.takeFirst(k, p, now, cost, maxWait); ok {
					return v
				}
			}
			pause(spins)
			continue
		}
		if sl.unitOf() != p.WordUnit() {
			return s.takeHeld(k, p, cost, maxWait)
		}
		next, v, cut := p.DecideWord(w, now, cost, maxWait)
		if cut { // a later instant than ours may have written it; or the clock did go back
			return s.takeHeld(k, p, cost, maxWait)
		}
		if next == w {
			if sl.word.Load() != w || !sl.is(k) {
				continue // the slot changed hands while we looked
			}
			if !v.Allowed {
				s.mark(sl)
			}
			return v
		}
		if sl.swap(k, w, next) {
			return v
		}
	}
}

// takeFirst decides a token bucket whose key seems to have no slot, and adds it
// as it is after the spend. It fails if the key has one after all.
func (s *Store) takeFirst(k key, p *algo.Spec, now, cost, maxWait int64) (algo.Verdict, bool) {
	next, v, _ := p.DecideWord(0, now, cost, maxWait)
	if !v.Allowed || cost == 0 { // nothing to remember
		_, absent := s.table.absent(k)
		return v, absent
	}
	_, added := s.add(addition{key: k, unit: p.WordUnit(), word: next, now: now})
	return v, added
}

// takeHeld decides one check on a slot that it holds. Every algorithm can be
// decided like this. The clock is read while the slot is held, so a key never
// sees time go back unless the clock does.
func (s *Store) takeHeld(k key, p *algo.Spec, cost, maxWait int64) (v algo.Verdict) {
	sl := s.holdKey(k)
	for sl == nil {
		now := s.clock.Now()
		v = algo.Check(p, &algo.State{}, s.at(p, now), cost, maxWait)
		if !v.Allowed || cost == 0 {
			return v // nothing to remember
		}
		// Zero and held: it is ours, and new.
		added := false
		a := addition{key: k, unit: s.unitFor(p, now), word: held, now: now - s.epoch}
		if sl, added = s.add(a); !added {
			sl = s.holdKey(k)
		}
	}
	now := s.at(p, s.clock.Now())
	st := s.load(sl)
	v = algo.Check(p, &st, now, cost, maxWait)
	switch {
	case v.Allowed && cost > 0:
		algo.Spend(p, &st, now, cost)
		if s.save(sl, p, &st, now) {
			s.relieve(now - s.epoch)
		}
	case cost > 0 && algo.Cut(p, &st, now):
		s.save(sl, p, &st, now)
	default:
		sl.release()
		if !v.Allowed {
			s.mark(sl)
		}
	}
	return v
}

// at returns the instant by which p decides: windows follow the time of day.
func (s *Store) at(p *algo.Spec, now int64) int64 {
	if p.Wall() {
		return s.clock.Wall(now)
	}
	return now
}

// holdKey finds the key's slot and holds it. It returns nil if the key has none.
func (s *Store) holdKey(k key) *slot {
	for {
		if sl := s.tryHold(k); sl != nil {
			return sl
		}
		if _, absent := s.table.absent(k); absent {
			return nil
		}
	}
}

// tryHold holds the slot that the key seems to have. It returns nil if that was dead or
// none.
func (s *Store) tryHold(k key) *slot {
	if sl, w := s.table.find(k); w&moved == 0 {
		if _, ok := sl.hold(k); ok {
			return sl
		}
	}
	return nil
}

// unitFor returns the unit of a new state of p.
func (s *Store) unitFor(p *algo.Spec, now int64) uint64 {
	if wordFits(p, now-s.epoch) {
		return p.WordUnit()
	}
	return 0
}

// load returns the state of a held slot.
func (s *Store) load(sl *slot) algo.State {
	var x *rest
	if unit := sl.unit.Load(); unit&far != 0 {
		x = s.rests.at(unit)
	}
	return sl.load(x, s.epoch)
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
	} else {
		grew = s.saveFar(sl, st)
	}
	sl.word.Store(stateWord(st, s.epoch))
	return grew
}

// saveFar writes what does not fit into the slot.
func (s *Store) saveFar(sl *slot, st *algo.State) (grew bool) {
	unit, had := sl.unit.Load()&^marks, int64(0)
	if unit&far == 0 {
		unit = s.rests.take()
	} else {
		had = s.rests.at(unit).bytes()
	}
	x := s.rests.at(unit)
	x.f, x.g = st.F, st.G
	x.keep(st.More)
	if x.bytes() > restBytes {
		unit |= long
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
