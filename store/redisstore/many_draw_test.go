package redisstore_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// draw adds one random decision.
func (m *many) draw() {
	switch k := m.Rand.IntN(100); {
	case k < 50:
		m.add(store.Spend, m.checks(1+max(0, m.Rand.IntN(6)-3)))
	case k < 58:
		m.lease()
	case k < 66:
		m.giveBack()
	case k < 76:
		m.reserve()
	case k < 84:
		m.settle()
	case k < 91:
		m.add(store.Refund, m.checks(1+m.Rand.IntN(2)))
	case k < 93:
		m.add(store.Reset, m.checks(1))
	case k < 95:
		l := algotest.Pick(m.Rand, m.limits)
		l.def = algotest.RandomChange(m.Rand, l.def)
		l.spec = mustCompile(m, l.def)
	default:
		m.row()
	}
}

// row adds a request of all limits of one key, as most rules make it.
func (m *many) row() {
	c := m.checks(1)[0]
	var row []store.Check
	for _, l := range m.limits {
		c.Spec = l.spec
		row = append(row, c)
	}
	m.add(store.Spend, row)
}

func (m *many) add(op store.Op, checks []store.Check, marks ...algo.Mark) {
	if op == store.Spend || op == store.Reserve {
		shade(m.Rand, checks)
	}
	want := slices.Clone(checks)
	for i, mark := range marks {
		want[i].Mark = mark
	}
	m.batch = append(m.batch, pair{op, checks, want})
}

// checks draws the checks of one decision.
func (m *many) checks(n int) []store.Check {
	var checks []store.Check
	for range n {
		cost := min(m.Cost(), algo.MaxCount)
		if m.Rand.IntN(3) == 0 {
			cost = m.Rand.Int64N(4)
		}
		key := fmt.Sprint("key ", m.Rand.IntN(m.keys))
		checks = append(checks, store.Check{Key: key, Spec: algotest.Pick(m.Rand, m.limits).spec, Cost: cost, MaxWait: m.Patience()})
	}
	return checks
}

func (m *many) lease() {
	checks := m.checks(1 + m.Rand.IntN(2))
	for i := range checks {
		c := &checks[i]
		c.MaxWait, c.Cost = 0, max(1, c.Cost)
		c.Want = min(algo.MaxCount, c.Cost*algotest.LogUniform(m.Rand, 1000))
	}
	m.add(store.Lease, checks)
}

// giveBack returns some of a lease, or cancels a booking: not of a key that is as
// good as new, which may have been forgotten with all its bookings.
func (m *many) giveBack() {
	n := len(m.spent)
	if n == 0 {
		return
	}
	i := n - 1 - m.Rand.IntN(min(n, 1+m.Rand.IntN(4)))
	s := m.spent[i]
	m.spent = slices.Delete(m.spent, i, i+1)
	if s.check.Granted > 0 {
		s.check.Cost = m.Rand.Int64N(s.check.Granted + 1)
		m.add(store.Return, []store.Check{s.check}, s.model)
		return
	}
	peek := []store.Check{{Key: s.check.Key, Spec: s.check.Spec}}
	if err := m.model.Take(context.Background(), store.Spend, peek); err != nil {
		m.Error(err)
	}
	if peek[0].Spec.ResetAfter(peek[0].Verdict) > 0 {
		m.add(store.Cancel, []store.Check{s.check}, s.model)
	}
}

func (m *many) reserve() {
	checks := m.checks(1 + m.Rand.IntN(2))
	for i := range checks {
		c := &checks[i]
		m.serial++
		c.ID, c.Hold = fmt.Sprint("id ", m.serial), algotest.LogUniform(m.Rand, store.MaxHold)
		if n := len(m.open); n > 0 && m.Rand.IntN(6) == 0 { // again
			*c = m.open[m.Rand.IntN(n)].check
		}
		m.open = append(m.open, held{*c, m.Now + c.Hold})
	}
	m.add(store.Reserve, checks)
}

func (m *many) settle() {
	if len(m.open) == 0 {
		return
	}
	c := algotest.Pick(m.Rand, m.open).check
	c.Cost = algotest.Pick(m.Rand, []int64{0, c.Cost, c.Cost / 2, min(c.Cost+1, algo.MaxCount)})
	m.add(store.Commit, []store.Check{c})
}

// back takes the clock back. What is as good as new now may have been forgotten,
// which a step back would show, so it is reset; likewise what has expired.
func (m *many) back() int {
	var peeks []store.Check
	for _, l := range m.limits {
		for k := range m.keys {
			peeks = append(peeks, store.Check{Key: fmt.Sprint("key ", k), Spec: l.spec})
		}
	}
	if err := m.model.Take(context.Background(), store.Spend, peeks); err != nil {
		m.Error(err)
	}
	for _, c := range peeks {
		if c.Spec.ResetAfter(c.Verdict) == 0 {
			m.add(store.Reset, []store.Check{c})
		}
	}
	done := m.flush()
	expired := map[string]bool{} // perhaps: a repeated one expires as the first does
	for _, h := range m.open {
		expired[h.check.ID] = expired[h.check.ID] || h.until <= m.Now
	}
	m.open = slices.DeleteFunc(m.open, func(h held) bool { return expired[h.check.ID] })
	m.Now -= algotest.LogUniform(m.Rand, 30*24*3600*1_000_000)
	return done
}
