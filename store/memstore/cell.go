package memstore

import (
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
)

// Cell is the state of one limit without keys: what a store keeps per key, and
// as fast as a word in memory can be. A word that is none is flagged as moved, so
// that nobody takes it for one; nothing else ever moves a cell.
type Cell struct {
	spec  atomic.Pointer[algo.Spec]
	exact bool      // time is that since base, without a detour
	base  time.Time // a year after the epoch
	clock *clock.Clock
	epoch int64
	rest  rest
	shift int64    // all that was given back to a bucket, and so moved the places of bookings
	_     [64]byte // what everybody reads is not on the line that everybody writes
	slot  slot
	_     [64]byte
}

// NewCell returns a fresh cell for p.
func NewCell(p *algo.Spec, c *clock.Clock) *Cell {
	cell := &Cell{clock: c, epoch: c.Start() - year}
	cell.base, cell.exact = c.Base()
	cell.spec.Store(p)
	cell.slot.unit.Store(p.WordUnit())
	return cell
}

// Spec returns the limit.
func (c *Cell) Spec() *algo.Spec { return c.spec.Load() }

// Allow takes a cost of 1, now or not at all.
func (c *Cell) Allow() bool {
	var now int64
	if c.exact {
		now = int64(time.Since(c.base))/1000 + year
	} else {
		now = c.clock.Now() - c.epoch
	}
	for uint64(now) <= algo.MaxWordTime {
		w := c.slot.word.Load()
		p := c.spec.Load() // after the word: a change of the limit changes both
		if p.WordUnit() == 0 {
			break
		}
		next, due, easy := p.TakeWord(w, now, 1)
		switch {
		case !easy:
			return c.Take(1, 0).Allowed
		case due <= p.WordCapacity():
			if c.slot.word.CompareAndSwap(w, next) {
				return true
			}
		case c.slot.word.Load() == w:
			return false
		}
	}
	return c.Take(1, 0).Allowed
}

// Take decides cost now, accepting to wait for maxWait µs.
func (c *Cell) Take(cost, maxWait int64) algo.Verdict {
	return c.Book(nil, cost, maxWait).Verdict
}

// Booking is an answer with what is needed to take it back later.
type Booking struct {
	algo.Verdict
	Spec *algo.Spec // the limit that decided
	At   int64      // the instant of the decision
	Mark algo.Mark

	shift int64 // of the cell, when it was booked
}

// Book decides cost at the time t, or now if t is nil.
func (c *Cell) Book(t *time.Time, cost, maxWait int64) Booking {
	p, st, now := c.begin(t)
	b := Booking{Spec: p, At: now, shift: c.shift}
	if !algo.DecideTo(&b.Verdict, p, &st, now, cost, maxWait) {
		c.slot.release()
		return b
	}
	if b.Allowed {
		b.Mark = p.Mark(&st)
	}
	c.save(p, &st, now)
	return b
}

// begin holds the cell and returns its state at t, or now if t is nil.
func (c *Cell) begin(t *time.Time) (p *algo.Spec, st algo.State, now int64) {
	w := c.hold()
	p = c.spec.Load()
	c.slot.load(&st, w, &c.rest, c.epoch)
	return p, st, c.now(p, t)
}

// hold waits until nobody holds the cell, takes it, and returns its word.
func (c *Cell) hold() uint64 {
	for spins := 0; ; spins++ {
		if w := c.slot.word.Load(); w&held == 0 && c.slot.word.CompareAndSwap(w, w|held) {
			return w
		}
		pause(spins)
	}
}

func (c *Cell) now(p *algo.Spec, t *time.Time) int64 {
	now := int64(0)
	if t != nil {
		now = max(c.clock.At(*t), c.epoch)
	} else {
		now = c.clock.Now()
	}
	if p.Wall() {
		now = c.clock.Wall(now)
	}
	return now
}

func (c *Cell) save(p *algo.Spec, st *algo.State, now int64) {
	if wordFits(p, now-c.epoch) {
		c.slot.unit.Store(p.WordUnit())
		c.slot.word.Store(p.StateWord(st, c.epoch))
		return
	}
	c.rest = rest{st.F, st.G, st.More}
	c.slot.unit.Store(0)
	c.slot.word.Store(stateWord(st, c.epoch) | moved)
}

// Settle brings a booking to what it really took. Unused cost is given back as
// far as it still counts, or, while it waits, if nothing was booked after it;
// negative is a debt.
func (c *Cell) Settle(b Booking, unused int64, waits bool) {
	p, st, now := c.begin(nil)
	before, shift := p.Mark(&st), c.shift-b.shift
	mark := p.Shifted(b.Mark, shift)
	switch {
	case p.Shape() != b.Spec.Shape(): // the limit started fresh since: nothing of it counts
	case unused < 0:
		algo.Spend(p, &st, now, -unused)
	case waits:
		algo.Cancel(p, &st, now, unused, mark)
	default:
		algo.Return(p, &st, now, unused, b.At, b.Mark, shift)
	}
	if mark != before { // what the newest gives back moves no other
		c.shift += p.Shift(before, p.Mark(&st))
	}
	c.save(p, &st, now)
}

// Refund gives cost back.
func (c *Cell) Refund(cost int64) {
	p, st, now := c.begin(nil)
	before := p.Mark(&st)
	algo.Refund(p, &st, now, cost)
	c.shift += p.Shift(before, p.Mark(&st))
	c.save(p, &st, now)
}

// Reset forgets everything that was spent.
func (c *Cell) Reset() {
	p, _, now := c.begin(nil)
	c.save(p, &algo.State{}, now)
}

// SetSpec changes the limit. A new shape starts fresh, else what was spent
// stays spent.
func (c *Cell) SetSpec(p *algo.Spec) {
	w := c.hold()
	now := c.now(p, nil)
	st := algo.State{}
	if p.Shape() == c.spec.Load().Shape() {
		c.slot.load(&st, w, &c.rest, c.epoch)
	}
	algo.Refund(p, &st, now, 0) // writes the state in the new unit, and never the word of one not yet used
	c.spec.Store(p)
	c.save(p, &st, now)
}
