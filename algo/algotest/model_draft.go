package algotest

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// draft is what a Take would change.
type draft struct {
	m      *Model
	states map[slot]*algo.State
	open   map[ticket]reservation
}

// decide answers one check, after those before it. A Reserve whose ID is open
// already is a repetition: it gets the answer of the first and spends nothing.
func (d *draft) decide(op store.Op, c *store.Check, now int64) {
	t := ticketOf(c)
	if r, ok := d.reservation(t); ok && op == store.Reserve && now < r.until {
		c.Verdict = r.verdict
		return
	}
	s := d.state(t.slot)
	c.Verdict = algo.Check(c.Spec, s, now, c.Cost, c.MaxWait)
	if !c.Verdict.Allowed {
		return
	}
	if c.Cost > 0 {
		algo.Spend(c.Spec, s, now, c.Cost)
		c.Mark = c.Spec.Mark(s)
	}
	if op == store.Reserve {
		d.open[t] = reservation{
			c.Cost, now, now + c.Verdict.Wait, now + c.Hold, c.Spec.Mark(s), d.m.shifts[t.slot], c.Verdict,
		}
	}
}

// state returns a copy of the state, one for all checks of the draft.
func (d *draft) state(at slot) *algo.State {
	if d.states[at] == nil {
		s := *d.m.state(at)
		s.More = slices.Clone(s.More)
		d.states[at] = &s
	}
	return d.states[at]
}

func (d *draft) reservation(t ticket) (reservation, bool) {
	if r, ok := d.open[t]; ok {
		return r, true
	}
	r, ok := d.m.open[t]
	return r, ok
}

// keep makes the draft real.
func (d *draft) keep() {
	for at, s := range d.states {
		d.m.states[at] = s
	}
	for t, r := range d.open {
		d.m.open[t] = r
	}
}
