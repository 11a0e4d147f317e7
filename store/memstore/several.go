package memstore

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// part is one check of a decision over several.
type part struct {
	*store.Check
	key   key
	ref   ref  // the held slot; none for a limit without state and for a peek at a key never seen
	first int  // the part that has the same state and comes first: itself if it is the first
	twice bool // the first of several parts with the same state
	none  bool // nobody spends and the key has no slot
	again bool // a repeated reservation, which was decided before
	fresh uint64
	state algo.State
	last  *algo.Spec // the last to have spent
}

// several is a decision over several checks.
type several struct {
	parts []part
	order []int // the parts, sorted by key
}

// takeAll decides several checks as one: all or nothing.
func (s *Store) takeAll(checks []store.Check) {
	var (
		parts [4]part // no allocation in the common case
		order [4]int
	)
	d := several{parts[:0], order[:0]}
	s.holdAll(&d, checks)
	now := s.clock.Now()
	s.decideAll(&d, now)
	s.writeAll(&d, now)
}

// holdAll holds the slot of every check, in one order for all callers so that
// they cannot wait for each other in a circle.
func (s *Store) holdAll(d *several, checks []store.Check) {
	for i := range checks {
		c := &checks[i]
		d.parts = append(d.parts, part{Check: c, key: s.hash.key(c.Key, c.Spec.Shape())})
		d.order = append(d.order, i)
	}
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
	for !s.tryHoldAll(d) {
	}
}

// tryHoldAll first makes sure that every key has a slot and then holds them.
// Whoever meets a dead slot then lets go of everything, because the one who is
// moving it may be waiting for a slot of ours.
func (s *Store) tryHoldAll(d *several) bool {
	for i := range d.parts {
		s.addPart(d, i)
	}
	for n, i := range d.order {
		p := &d.parts[i]
		if p.first != i || p.none {
			continue
		}
		r, ok := s.table.ref(p.key)
		if !ok || !r.hold(p.key) {
			d.releaseAll(d.order[:n])
			return false
		}
		p.ref = r
	}
	return true
}

// addPart makes sure that a part that may spend has a slot, and finds out
// whether one that cannot has any.
func (s *Store) addPart(d *several, i int) {
	p := &d.parts[i]
	p.ref = ref{}
	if p.first != i {
		return
	}
	p.none = stateless(p.Spec) || !s.live(p.key)
	if !p.none || stateless(p.Spec) || !d.spends(i) {
		return
	}
	unit, now := uint64(0), s.clock.Now()-s.epoch
	if wordFits(p.Spec, now) {
		unit = p.Spec.WordUnit()
	}
	s.add(p.key, unit, now)
	p.none, p.fresh = false, freshWord(unit, now)
}

// spends reports whether any part with the state of part i has a cost.
func (d *several) spends(i int) bool {
	for j := range d.parts {
		if d.parts[j].first == i && d.parts[j].Cost > 0 {
			return true
		}
	}
	return false
}

func (d *several) releaseAll(order []int) {
	for _, i := range order {
		d.parts[i].leave()
	}
}

// leave releases a part's slot with its state unchanged. A slot that was added
// for this decision and spent nothing is as good as never used.
func (p *part) leave() {
	if p.ref.slot == nil {
		return
	}
	if w := p.ref.word.Load() &^ held; w == p.fresh {
		p.ref.word.Store(0)
	} else {
		p.ref.word.Store(w)
	}
}

// stateless tells the limits that remember nothing.
func stateless(p *algo.Spec) bool { return p.Kind == algo.Unlimited || p.Kind == algo.Ban }

// decideAll decides all parts at one instant and spends, but writes nothing
// yet.
func (s *Store) decideAll(d *several, now int64) (allowed bool) {
	for i := range d.parts {
		p := &d.parts[i]
		if p.ref.slot != nil && p.ref.word.Load()&^held != p.fresh {
			p.state = s.load(p.ref)
		}
	}
	allowed = true
	for i := range d.parts {
		p := &d.parts[i]
		if !p.again {
			p.Verdict = s.checkPart(d, p, now)
		}
		allowed = allowed && p.Verdict.Allowed
	}
	for i := range d.parts {
		s.spendPart(d, &d.parts[i], now, allowed)
	}
	return allowed
}

// writeAll saves what decideAll changed and lets go of everything.
func (s *Store) writeAll(d *several, now int64) {
	for i := range d.parts {
		s.writePart(&d.parts[i], now)
	}
	s.relieve(now - s.epoch)
}

// checkPart decides one part after those before it: parts that share a state
// try on a copy what the earlier ones would leave.
func (s *Store) checkPart(d *several, p *part, now int64) algo.Verdict {
	first := &d.parts[p.first]
	at := s.at(p.Spec, now)
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

// spendPart spends one part, or, if the decision is a denial, repairs a state
// that lies too far ahead.
func (s *Store) spendPart(d *several, p *part, now int64, allowed bool) {
	first := &d.parts[p.first]
	if p.Cost == 0 || p.again || first.ref.slot == nil {
		return
	}
	at := s.at(p.Spec, now)
	switch {
	case allowed:
		algo.Spend(p.Spec, &first.state, at, p.Cost)
		first.last = p.Spec
		p.Mark = p.Spec.Mark(&first.state)
	case !p.Verdict.Allowed && algo.Cut(p.Spec, &first.state, at):
		first.last = p.Spec
	}
}

// writePart saves and releases the slot of a part.
func (s *Store) writePart(p *part, now int64) {
	switch {
	case p.ref.slot == nil:
	case p.last != nil:
		s.save(p.ref, p.last, &p.state, s.at(p.last, now))
	default:
		p.leave()
		if !p.Verdict.Allowed {
			s.mark(p.ref.slot)
		}
	}
}
