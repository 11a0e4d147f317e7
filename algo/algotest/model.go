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
	shifts  map[slot]int64 // all that was given back, and so moved the places of reservations
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
	shift   int64 // of its state, when it was made
	verdict algo.Verdict
}

// NewModel returns an empty model that lives by the given clock.
func NewModel(now func() time.Time) *Model {
	return &Model{
		now: now, states: map[slot]*algo.State{}, shifts: map[slot]int64{},
		open: map[ticket]reservation{}, permits: map[slot]*algo.Permits{},
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
		m.change(op, &checks[i], now)
	}
	return nil
}

// change carries out an operation that is not a decision.
func (m *Model) change(op store.Op, c *store.Check, now int64) {
	s := m.state(slotOf(c))
	before := c.Spec.Mark(s)
	c.Verdict = algo.Verdict{Allowed: true}
	switch op {
	case store.Commit:
		c.Verdict.Allowed = m.commit(c, now)
		return
	case store.Refund:
		algo.Refund(c.Spec, s, now, c.Cost)
	case store.Reset:
		m.reset(slotOf(c))
		return
	case store.Cancel:
		c.Verdict.Allowed = algo.Cancel(c.Spec, s, now, c.Cost, c.Mark)
	case store.Return:
		algo.Return(c.Spec, s, now, c.Cost, c.Now, c.Mark, algo.Uncounted)
	case store.Renew:
		c.Verdict.Allowed = c.Spec.Renew(m.permitsOf(slotOf(c)), now, c.ID, c.Hold)
	case store.Release:
		c.Verdict.Allowed = c.Spec.Release(m.permitsOf(slotOf(c)), now, c.ID)
	}
	m.shifts[slotOf(c)] += c.Spec.Shift(before, c.Spec.Mark(s))
}

// spend decides all checks on a draft, which takes what is allowed, and keeps the
// draft if all are allowed that are no shadows. Where a check is denied, what
// algo.Decide would write on a denial is written: the cut.
func (m *Model) spend(op store.Op, checks []store.Check, now int64) {
	d := draft{m: m, states: map[slot]*algo.State{}, open: map[ticket]reservation{}}
	allowed := true
	for i := range checks {
		checks[i].Now = now
		d.decide(op, &checks[i], now)
		allowed = allowed && !checks[i].Refuses()
	}
	if allowed {
		d.keep()
	}
	for i := range checks {
		if c := &checks[i]; !c.Verdict.Allowed && c.Cost > 0 {
			algo.Cut(c.Spec, m.state(slotOf(c)), now)
		}
	}
}

// lease takes as much of the one check as there is.
func (m *Model) lease(one []store.Check, now int64) {
	store.TryLease(&one[0], func() { m.spend(store.Spend, one, now) })
}

// acquire takes the permits of all checks, or of none; of shadows, those that are
// allowed. What has expired is dropped whatever the answer is.
func (m *Model) acquire(checks []store.Check, now int64) {
	drafts, allowed := map[slot]*algo.Permits{}, true
	for i := range checks {
		c := &checks[i]
		at := slotOf(c)
		if drafts[at] == nil {
			m.permitsOf(at).Sweep(now)
			p := *m.permitsOf(at)
			p.Held = slices.Clone(p.Held)
			drafts[at] = &p
		}
		c.Now, c.Verdict = now, c.Spec.Acquire(drafts[at], now, c.ID, c.Cost, c.Hold)
		allowed = allowed && !c.Refuses()
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
	s, unused, shift := m.state(t.slot), r.cost-c.Cost, m.shifts[t.slot]-r.shift
	before, mark := c.Spec.Mark(s), c.Spec.Shifted(r.mark, shift)
	switch {
	case unused < 0:
		algo.Spend(c.Spec, s, now, -unused)
	case unused > 0 && now < r.ready:
		algo.Cancel(c.Spec, s, now, unused, mark)
	case unused > 0:
		algo.Return(c.Spec, s, now, unused, r.at, r.mark, shift)
	}
	if mark != before { // what the newest gives back moves no other
		m.shifts[t.slot] += c.Spec.Shift(before, c.Spec.Mark(s))
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

func slotOf(c *store.Check) slot { return slot{c.Key, c.Spec.Shape()} }

func ticketOf(c *store.Check) ticket { return ticket{slotOf(c), c.ID} }
