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
func (s *Store) takeHeld(k key, p *algo.Spec, cost, maxWait int64) algo.Verdict {
	r, ok := s.holdKey(k)
	for !ok {
		now := s.clock.Now()
		v := algo.Check(p, &algo.State{}, s.at(p, now), cost, maxWait)
		if !v.Allowed || cost == 0 {
			return v // nothing to remember
		}
		// Zero and held: it is ours, and new.
		a := addition{key: k, unit: s.unitFor(p, now), word: held, now: now - s.epoch}
		if r, ok = s.add(a); !ok {
			r, ok = s.holdKey(k)
		}
	}
	now := s.at(p, s.clock.Now())
	st := s.load(r)
	v := algo.Check(p, &st, now, cost, maxWait)
	switch {
	case v.Allowed && cost > 0:
		algo.Spend(p, &st, now, cost)
		if s.save(r, p, &st, now) {
			s.relieve(now - s.epoch)
		}
	case cost > 0 && algo.Cut(p, &st, now):
		s.save(r, p, &st, now)
	default:
		r.release()
		if !v.Allowed {
			s.mark(r.slot)
		}
	}
	return v
}

// takeSmall is takeHeld, without waiting, for a state that is in the slot alone.
// It fails if there is none.
func (s *Store) takeSmall(k key, p *algo.Spec, cost int64, v *algo.Verdict) bool {
	sl, w := s.table.find(k)
	if w&flags != 0 || sl.unit.Load()&small == 0 || !sl.hold(k) {
		return false
	}
	if sl.unit.Load()&small == 0 {
		sl.release()
		return false
	}
	now := s.at(p, s.clock.Now())
	st := sl.load(nil, s.epoch)
	*v = algo.Check(p, &st, now, cost, 0)
	switch {
	case v.Allowed && cost > 0:
		algo.Spend(p, &st, now, cost)
	case cost == 0 || !algo.Cut(p, &st, now):
		sl.release()
		if !v.Allowed {
			s.mark(sl)
		}
		return true
	}
	if unit, ok := smallUnit(&st); ok {
		sl.unit.Store(unit)
		sl.word.Store(stateWord(&st, s.epoch))
		return true
	}
	r, _ := s.table.ref(k) // it is held, so it is still there
	s.save(r, p, &st, now)
	return true
}

// at returns the instant by which p decides: windows follow the time of day.
func (s *Store) at(p *algo.Spec, now int64) int64 {
	if p.Wall() {
		return s.clock.Wall(now)
	}
	return now
}

// holdKey finds the key's slot and holds it. It fails if the key has none.
func (s *Store) holdKey(k key) (ref, bool) {
	for {
		if r, ok := s.table.ref(k); ok && r.hold(k) {
			return r, true
		}
		if _, absent := s.table.absent(k); absent {
			return ref{}, false
		}
	}
}

// unitFor returns the unit of a new state of p.
func (s *Store) unitFor(p *algo.Spec, now int64) uint64 {
	if wordFits(p, now-s.epoch) {
		return p.WordUnit()
	}
	return 0
}

// load returns the state of a held slot.
func (s *Store) load(r ref) algo.State {
	var x *rest
	if rests := r.page.rests.Load(); rests != nil {
		x = &rests[r.i]
	}
	return r.slot.load(x, s.epoch)
}

// save writes the state of a held slot and releases it. It reports whether the
// state grew.
func (s *Store) save(r ref, p *algo.Spec, st *algo.State, now int64) (grew bool) {
	var x *rest
	if !wordFits(p, now-s.epoch) {
		if unit, ok := smallUnit(st); ok {
			r.unit.Store(unit)
			r.word.Store(stateWord(st, s.epoch))
			return false
		}
		x = &s.restsOf(r.page)[r.i]
		if more := cap(st.More) - cap(x.more); more != 0 {
			s.beside.Add(8 * int64(more))
			grew = more > 0
		}
	}
	r.slot.save(x, p, st, s.epoch, 0)
	return grew
}
