package memstore

import (
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// change carries out an operation that is not a decision: on one check, always.
func (s *Store) change(op store.Op, c *store.Check) {
	k := s.hash.key(c.Key, c.Spec.Shape())
	c.Verdict = algo.Verdict{Allowed: true}
	if op == store.Commit {
		r, ok := s.closeReservation(ticket{c.ID, k}, s.clock.Now())
		c.Verdict.Allowed = ok
		if ok && r.cost != c.Cost {
			s.settle(k, c, r)
		}
		return
	}
	if op == store.Reset {
		s.closeAll(k)
	}
	r, ok := s.holdKey(k)
	switch {
	case !ok:
	case op == store.Reset:
		s.drop(r)
	default:
		now := s.at(c.Spec, s.clock.Now())
		st := s.load(r)
		if op == store.Cancel {
			c.Verdict.Allowed = algo.Cancel(c.Spec, &st, now, c.Cost, c.Mark)
		} else {
			algo.Refund(c.Spec, &st, now, c.Cost)
		}
		s.save(r, c.Spec, &st, now)
	}
}

// drop forgets the key of a held slot.
func (s *Store) drop(r ref) {
	s.dropRest(r.page, r.i)
	s.keys.Add(-1)
	r.word.Store(moved)
}

// settle brings a reservation to what it really took.
func (s *Store) settle(k key, c *store.Check, r reservation) {
	if stateless(c.Spec) {
		return
	}
	ref, ok := s.holdKey(k)
	for !ok {
		if c.Cost <= r.cost {
			return // nothing is counted any more
		}
		s.add(k, 0, s.clock.Now()-s.epoch)
		ref, ok = s.holdKey(k)
	}
	clock := s.clock.Now()
	now := s.at(c.Spec, clock)
	st := s.load(ref)
	switch unused := r.cost - c.Cost; {
	case unused < 0:
		algo.Spend(c.Spec, &st, now, -unused)
	case clock < r.ready:
		algo.Cancel(c.Spec, &st, now, unused, r.mark)
	default:
		algo.Return(c.Spec, &st, now, unused, r.at, r.mark)
	}
	s.save(ref, c.Spec, &st, now)
}
