package memstore

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// takeAll decides several checks as one: all or nothing, but for shadows.
func (s *Store) takeAll(checks []store.Check) {
	if !s.takeFew(checks) {
		s.takeSeveral(checks)
	}
}

// takeSeveral is takeAll for any checks.
func (s *Store) takeSeveral(checks []store.Check) {
	d := newSeveral(store.Spend)
	s.holdAll(d, checks)
	now := s.clock.Now()
	s.decideAll(d, now)
	s.writeAll(d, now)
	d.done()
}

// lease takes as much of the one check as there is.
func (s *Store) lease(one []store.Check) {
	store.TryLease(&one[0], func() { s.takeAll(one) })
}

// decideAll decides all parts at one instant and spends, but writes nothing yet. It
// reports whether what was allowed is spent.
func (s *Store) decideAll(d *several, now int64) (allowed bool) {
	s.loadAll(d)
	allowed = true
	denied := false
	for i := range d.parts {
		p := &d.parts[i]
		if d.op == store.Reserve && !p.again {
			p.again = d.repeats(i)
		}
		if !p.again {
			p.Verdict = s.checkPart(d, p, now)
		}
		denied = denied || !p.Verdict.Allowed
		allowed = allowed && !p.Refuses()
	}
	if allowed {
		s.spendAll(d, now)
	}
	if denied {
		s.cutAll(d, now)
	}
	return allowed
}

// repeats reports whether part i reserves what an earlier part of the same call
// has reserved, and takes over its verdict.
func (d *several) repeats(i int) bool {
	p := &d.parts[i]
	for j := range i {
		if q := &d.parts[j]; q.key == p.key && q.ID == p.ID && q.Verdict.Allowed {
			p.Verdict = q.Verdict
			return true
		}
	}
	return false
}

// checkPart decides one part after those before it: parts that share a state
// try on a copy what the earlier ones would leave.
func (s *Store) checkPart(d *several, p *part, now int64) algo.Verdict {
	first := &d.parts[p.first]
	at := s.at(p.Spec, now)
	p.Now = at
	if !first.twice {
		return algo.Check(p.Spec, &first.state, at, p.Cost, p.MaxWait)
	}
	trial := first.state
	trial.More = slices.Clone(trial.More)
	for i := range d.parts {
		q := &d.parts[i]
		if q == p {
			break
		}
		if q.first == p.first && q.Verdict.Allowed && q.Cost > 0 && !q.again {
			algo.Spend(q.Spec, &trial, s.at(q.Spec, now), q.Cost)
		}
	}
	return algo.Check(p.Spec, &trial, at, p.Cost, p.MaxWait)
}

// spendAll spends what is allowed: all of it, but for shadows.
func (s *Store) spendAll(d *several, now int64) {
	for i := range d.parts {
		p := &d.parts[i]
		first := &d.parts[p.first]
		if p.Cost == 0 || p.again || first.slot == nil || !p.Verdict.Allowed {
			continue
		}
		algo.Spend(p.Spec, &first.state, s.at(p.Spec, now), p.Cost)
		first.last = p.Spec
		p.Mark = p.Spec.Mark(&first.state)
	}
}

// cutAll repairs states that lie too far ahead, where that has led to a denial.
func (s *Store) cutAll(d *several, now int64) {
	for i := range d.parts {
		p := &d.parts[i]
		first := &d.parts[p.first]
		if p.Cost > 0 && !p.Verdict.Allowed && first.slot != nil && algo.Cut(p.Spec, &first.state, s.at(p.Spec, now)) {
			first.last = p.Spec
		}
	}
}
