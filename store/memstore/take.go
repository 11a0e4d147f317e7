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
		sl := s.table.find(k)
		if sl == nil {
			if _, v, _ := p.DecideWord(0, now, cost, maxWait); !v.Allowed || cost == 0 {
				return v // nothing to remember
			}
			s.add(k, p.WordUnit(), now)
			continue
		}
		w := sl.word.Load()
		if w&flags != 0 {
			if w&moved != 0 {
				s.add(k, p.WordUnit(), now)
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
		if sl.word.CompareAndSwap(w, next) {
			if sl.is(k) {
				return v
			}
			// Between our look at the identity and the swap the slot was given
			// to a key that happened to be in the very same state: undo.
			sl.word.CompareAndSwap(next, w)
		}
	}
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
		s.add(k, 0, now-s.epoch)
		r, ok = s.holdKey(k)
	}
	now := s.at(p, s.clock.Now())
	st := s.load(r)
	v := algo.Check(p, &st, now, cost, maxWait)
	switch {
	case v.Allowed && cost > 0:
		algo.Spend(p, &st, now, cost)
		s.save(r, p, &st, now)
		s.relieve(now - s.epoch)
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

// at returns the instant by which p decides: windows follow the time of day.
func (s *Store) at(p *algo.Spec, now int64) int64 {
	if p.Wall() {
		return s.clock.Wall(now)
	}
	return now
}

// holdKey finds the key's slot and holds it. It fails if the key has none.
func (s *Store) holdKey(k key) (ref, bool) {
	for s.live(k) {
		if r, ok := s.table.ref(k); ok && r.hold(k) {
			return r, true
		}
	}
	return ref{}, false
}

// live reports whether the key has a live slot. A key that is on its way to
// another page has one as soon as that page is there.
func (s *Store) live(k key) bool {
	r, ok := s.table.ref(k)
	if !ok || r.word.Load()&moved == 0 {
		return ok
	}
	p := s.table.lockPage(k)
	defer p.mu.Unlock()
	r, ok = s.table.ref(k)
	return ok && r.word.Load()&moved == 0
}

// load returns the state of a held slot.
func (s *Store) load(r ref) algo.State {
	if r.unitOf() != 0 {
		return r.slot.load(nil, s.epoch)
	}
	return r.slot.load(&r.page.rests.Load()[r.i], s.epoch)
}

// save writes the state of a held slot and releases it.
func (s *Store) save(r ref, p *algo.Spec, st *algo.State, now int64) {
	var x *rest
	if !wordFits(p, now-s.epoch) {
		x = s.restOf(r)
		s.bytes.Add(8 * int64(cap(st.More)-cap(x.more)))
	}
	r.slot.save(x, p, st, s.epoch)
}

// restOf returns the place beside a held slot. A page that had words only may
// have none yet.
func (s *Store) restOf(r ref) *rest {
	if r.page.rests.Load() == nil && r.page.rests.CompareAndSwap(nil, new(rests)) {
		s.bytes.Add(restBytes)
	}
	return &r.page.rests.Load()[r.i]
}
