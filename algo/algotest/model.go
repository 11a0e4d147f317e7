package algotest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Model is the simplest possible [store.Store]: one lock, one map of states,
// one map of reservations, nothing ever dropped. It follows the contract word
// for word, and is the reference for the equivalence of all other stores.
type Model struct {
	now func() time.Time

	mu      sync.Mutex // guards the maps and all that they hold
	states  map[slot]*algo.State
	open    map[ticket]reservation
	permits map[slot]*algo.Permits
}

var _ store.Store = (*Model)(nil)

// slot names a state: checks of one key and one shape share it.
type slot struct {
	key   string
	shape uint64
}

// ticket names a reservation.
type ticket struct {
	slot
	id string
}

// reservation is what Commit must know of a Reserve.
type reservation struct {
	cost    int64
	at      int64 // when it was spent
	ready   int64 // until this instant the booking waits
	until   int64 // from this instant on it is expired
	mark    algo.Mark
	verdict algo.Verdict
}

// NewModel returns an empty model that lives by the given clock.
func NewModel(now func() time.Time) *Model {
	return &Model{
		now: now, states: map[slot]*algo.State{}, open: map[ticket]reservation{}, permits: map[slot]*algo.Permits{},
	}
}

// Take implements [store.Store].
func (m *Model) Take(_ context.Context, op store.Op, checks []store.Check) error {
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UnixMicro()
	switch op {
	case store.Spend, store.Reserve:
		m.spend(op, checks, now)
		return nil
	case store.Lease:
		for i := range checks {
			m.lease(checks[i:i+1], now)
		}
		return nil
	case store.Acquire:
		m.acquire(checks, now)
		return nil
	}
	for i := range checks {
		c := &checks[i]
		c.Verdict = algo.Verdict{Allowed: true}
		switch op {
		case store.Commit:
			c.Verdict.Allowed = m.commit(c, now)
		case store.Refund:
			algo.Refund(c.Spec, m.state(slotOf(c)), now, c.Cost)
		case store.Reset:
			m.reset(slotOf(c))
		case store.Cancel:
			c.Verdict.Allowed = algo.Cancel(c.Spec, m.state(slotOf(c)), now, c.Cost, c.Mark)
		case store.Return:
			algo.Return(c.Spec, m.state(slotOf(c)), now, c.Cost, c.Now, c.Mark)
		case store.Renew:
			c.Verdict.Allowed = c.Spec.Renew(m.permitsOf(slotOf(c)), now, c.ID, c.Hold)
		case store.Release:
			c.Verdict.Allowed = c.Spec.Release(m.permitsOf(slotOf(c)), now, c.ID)
		}
	}
	return nil
}

// spend decides all checks on a draft, and keeps the draft if all are allowed.
// If not, only what algo.Decide would write on a denial is written: the cut.
func (m *Model) spend(op store.Op, checks []store.Check, now int64) {
	d := draft{m: m, states: map[slot]*algo.State{}, open: map[ticket]reservation{}}
	allowed := true
	for i := range checks {
		checks[i].Now = now
		d.decide(op, &checks[i], now)
		allowed = allowed && checks[i].Verdict.Allowed
	}
	if allowed {
		d.keep()
		return
	}
	for i := range checks {
		if c := &checks[i]; !c.Verdict.Allowed && c.Cost > 0 {
			algo.Cut(c.Spec, m.state(slotOf(c)), now)
		}
	}
}

// lease takes as much of the one check as there is.
func (m *Model) lease(one []store.Check, now int64) {
	c, cost := &one[0], one[0].Cost
	for c.Granted = c.Want; ; c.Granted = max(cost, c.Granted/2) {
		c.Cost = c.Granted
		m.spend(store.Spend, one, now)
		if c.Verdict.Allowed || c.Granted == cost {
			break
		}
	}
	if c.Cost = cost; !c.Verdict.Allowed {
		c.Granted = 0
	}
}

// acquire takes the permits of all checks, or of none.
func (m *Model) acquire(checks []store.Check, now int64) {
	drafts, allowed := map[slot]*algo.Permits{}, true
	for i := range checks {
		c := &checks[i]
		at := slotOf(c)
		if drafts[at] == nil {
			p := *m.permitsOf(at)
			p.Held = slices.Clone(p.Held)
			drafts[at] = &p
		}
		c.Now, c.Verdict = now, c.Spec.Acquire(drafts[at], now, c.ID, c.Cost, c.Hold)
		allowed = allowed && c.Verdict.Allowed
	}
	if allowed {
		maps.Copy(m.permits, drafts)
	}
}

func (m *Model) permitsOf(at slot) *algo.Permits {
	if m.permits[at] == nil {
		m.permits[at] = &algo.Permits{}
	}
	return m.permits[at]
}

// commit settles a reservation, once and before it expires, and reports
// whether it did.
func (m *Model) commit(c *store.Check, now int64) bool {
	t := ticketOf(c)
	r, ok := m.open[t]
	delete(m.open, t)
	if !ok || now >= r.until {
		return false
	}
	s, unused := m.state(t.slot), r.cost-c.Cost
	switch {
	case unused < 0:
		algo.Spend(c.Spec, s, now, -unused)
	case unused > 0 && now < r.ready:
		algo.Cancel(c.Spec, s, now, unused, r.mark)
	case unused > 0:
		algo.Return(c.Spec, s, now, unused, r.at, r.mark)
	}
	return true
}

// reset forgets what was spent, and what was reserved with it.
func (m *Model) reset(at slot) {
	delete(m.states, at)
	delete(m.permits, at)
	for t := range m.open {
		if t.slot == at {
			delete(m.open, t)
		}
	}
}

func (m *Model) state(at slot) *algo.State {
	if m.states[at] == nil {
		m.states[at] = &algo.State{}
	}
	return m.states[at]
}

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
		d.open[t] = reservation{c.Cost, now, now + c.Verdict.Wait, now + c.Hold, c.Spec.Mark(s), c.Verdict}
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

func slotOf(c *store.Check) slot { return slot{c.Key, c.Spec.Shape()} }

func ticketOf(c *store.Check) ticket { return ticket{slotOf(c), c.ID} }
