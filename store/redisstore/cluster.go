package redisstore

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// part is what of a call lies in one slot.
type part struct {
	slot  uint16
	order []int // the numbers of its checks in the call
	decision
}

// takeSlots makes one call per slot, in the order of the slots. Spend, Reserve and
// Acquire are all or nothing over all of them: once one is denied, the others only
// look, and what was spent before is given back. Slots of nothing but shadows come
// last, when it is known whether they are to be spent.
func (s *Store) takeSlots(ctx context.Context, op store.Op, checks []store.Check) error {
	parts := s.parts(op, checks)
	together := op == store.Spend || op == store.Reserve || op == store.Acquire
	denied := false
	for i := range parts {
		p := &parts[i]
		p.denied = denied && together
		if err := s.sender.send(ctx, &p.decision); err != nil {
			if together && !denied {
				s.giveBack(ctx, parts[:i])
			}
			return named(op, err)
		}
		if together && !denied && !p.allowed() {
			denied = true
			s.giveBack(ctx, parts[:i])
		}
	}
	for _, p := range parts {
		for i, at := range p.order {
			checks[at] = p.checks[i]
		}
	}
	return nil
}

// parts sorts checks by their slot; within a slot they keep their order.
func (s *Store) parts(op store.Op, checks []store.Check) []part {
	var parts []part
	for i := range checks {
		c := &checks[i]
		in := slot(s.wire.names.state(c.Key, c.Spec))
		at, found := slices.BinarySearchFunc(parts, in, func(p part, in uint16) int { return int(p.slot) - int(in) })
		if !found {
			parts = slices.Insert(parts, at, part{slot: in, decision: decision{op: op}})
		}
		p := &parts[at]
		p.order, p.checks = append(p.order, i), append(p.checks, *c)
	}
	if checks[len(checks)-1].Shadow {
		slices.SortStableFunc(parts, func(a, b part) int { return a.shadow() - b.shadow() })
	}
	return parts
}

// shadow is 1 if the part has nothing but shadows, which stand behind all others.
func (p *part) shadow() int {
	if p.checks[0].Shadow {
		return 1
	}
	return 0
}

func (p *part) allowed() bool {
	return !slices.ContainsFunc(p.checks, func(c store.Check) bool { return c.Refuses() })
}

// backTime is how long we try to give back what was spent for a decision that
// was denied in the end.
const backTime = 50 * time.Millisecond

// giveBack undoes what parts have spent, also if the caller has gone. What cannot
// be given back stays spent: the limit holds.
func (s *Store) giveBack(ctx context.Context, parts []part) {
	if len(parts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTime)
	defer cancel()
	for i := range slices.Backward(parts) {
		for _, d := range parts[i].undo() {
			_ = s.sender.send(ctx, &d)
			s.forget(d.checks)
		}
	}
}

// forget drops what is remembered of the checks' denials.
func (s *Store) forget(checks []store.Check) {
	for i := range checks {
		if s.denials != nil {
			s.denials.drop(s.clock.Now(), checks[i].Key)
		}
	}
}

// undo returns the decisions that give back what a part has spent: reservations
// are settled with nothing, bookings cancelled, permits released, the rest returned.
func (p *part) undo() []decision {
	var settle, cancel, back, release []store.Check
	for i, c := range slices.Backward(p.checks) {
		switch {
		case p.again != nil && p.again[i]: // another call has spent it
		case !c.Verdict.Allowed: // a shadow that was not spent
		case p.op == store.Acquire:
			release = append(release, c)
		case p.op == store.Reserve:
			c.Cost = 0
			settle = append(settle, c)
		case c.Cost == 0 || c.Spec.Kind == algo.Unlimited:
		case c.Verdict.Wait > 0:
			cancel = append(cancel, c)
		default:
			back = append(back, c)
		}
	}
	all := []decision{
		{op: store.Cancel, checks: cancel},
		{op: store.Return, checks: back},
		{op: store.Commit, checks: settle},
		{op: store.Release, checks: release},
	}
	return slices.DeleteFunc(all, func(d decision) bool { return len(d.checks) == 0 })
}
