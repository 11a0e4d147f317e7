package memstore

import (
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// changeAll carries out an operation that is not a decision, on all checks at
// one instant.
func (s *Store) changeAll(op store.Op, checks []store.Check) {
	d := newSeveral(op)
	s.holdAll(d, checks)
	now := s.clock.Now()
	for (op == store.Commit || op == store.Reset) && !s.closeAll(d, now) {
		d.releaseAll(d.order)
		s.holdAgain(d, true)
		now = s.clock.Now()
	}
	s.loadAll(d)
	for i := range d.parts {
		s.changePart(d, &d.parts[i], now)
	}
	s.writeAll(d, now)
	d.done()
}

// changePart changes the state of one part.
func (s *Store) changePart(d *several, p *part, now int64) {
	p.Verdict = algo.Verdict{Allowed: true}
	first := &d.parts[p.first]
	before, mark, at := first.state, p.Spec.Mark(&first.state), s.at(p.Spec, now)
	switch d.op {
	case store.Commit:
		if p.Verdict.Allowed = p.booked != nil; p.Verdict.Allowed {
			s.settle(p, &first.state, now, at)
		}
	case store.Refund:
		algo.Refund(p.Spec, &first.state, at, p.Cost)
	case store.Cancel:
		p.Verdict.Allowed = algo.Cancel(p.Spec, &first.state, at, p.Cost, p.Mark)
	case store.Return:
		algo.Return(p.Spec, &first.state, at, p.Cost, p.Now, p.Mark, algo.Uncounted)
	}
	if d.op != store.Commit {
		s.open.moved(p, mark, &first.state)
	}
	// What was not written anew stays as it is, in the unit that it is in.
	st := &first.state
	if len(st.More) > 0 || st.T != before.T || st.F != before.F || st.G != before.G || st.Ahead != before.Ahead {
		first.last = p.Spec
	}
}

// settle brings a reservation to what it really took. What the newest one gives
// back moves no other.
func (s *Store) settle(p *part, st *algo.State, now, at int64) {
	r, before := p.booked, p.Spec.Mark(st)
	shift := s.open.since(r)
	mark := p.Spec.Shifted(r.mark, shift)
	switch unused := r.cost - p.Cost; {
	case unused < 0:
		algo.Spend(p.Spec, st, at, -unused)
	case unused == 0:
	case now < r.ready:
		algo.Cancel(p.Spec, st, at, unused, mark)
	default:
		algo.Return(p.Spec, st, at, unused, r.at, r.mark, shift)
	}
	if mark != before {
		s.open.moved(p, before, st)
	}
}
