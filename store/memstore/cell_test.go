package memstore

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
)

// newCell returns a cell by a clock that the test moves.
func newCell(p *algo.Spec) (*Cell, *atomic.Int64) {
	at := new(atomic.Int64)
	at.Store(start)
	return NewCell(p, clock.Func(func() time.Time { return time.UnixMicro(at.Load()) })), at
}

// left is what remains in a cell.
func (c *Cell) left() int64 { return c.Spec().Remaining(c.Take(0, 0)) }

// TestCellIsExact: while the clock stands still, exactly the limit is admitted.
func TestCellIsExact(t *testing.T) {
	for _, p := range everyKind(t, 500) {
		c, _ := newCell(p)
		var admitted atomic.Int64
		crowd(8, func(worker int) {
			for i := range 200 {
				if (worker+i)%4 == 0 && c.Take(1, 0).Allowed || (worker+i)%4 != 0 && c.Allow() {
					admitted.Add(1)
				}
			}
		})
		if got := admitted.Load(); got != 500 {
			t.Errorf("kind %d: %d admitted of 500", p.Kind, got)
		}
	}
}

// TestCellChangesUnderFire: limits of one shape and of different units, which all
// take 300 seconds to recover, change while many ask. No spend is lost and nothing
// is admitted beyond the largest of them.
func TestCellChangesUnderFire(t *testing.T) {
	var specs []*algo.Spec
	for _, n := range []int64{1000, 1010, 1020} {
		specs = append(specs, compile(t, algo.Spec{Kind: algo.TokenBucket, Count: n, Period: 1000 * second, Burst: n * 3 / 10}))
	}
	for range soak(20, 2000) {
		c, _ := newCell(specs[0])
		var admitted atomic.Int64
		crowd(4, func(worker int) {
			for i := range 400 {
				if worker == 0 {
					c.SetSpec(specs[i%3])
				} else if c.Allow() {
					admitted.Add(1)
				}
			}
		})
		if got := admitted.Load(); got < 299 || got > 306 {
			t.Errorf("%d admitted of 300 to 306", got)
		}
	}
}

// TestCellChangesShape: a limit of another shape starts fresh, whoever asks
// meanwhile, and is exact from then on.
func TestCellChangesShape(t *testing.T) {
	specs := everyKind(t, 50)
	for round := range soak(40, 4000) {
		from, to := specs[round%len(specs)], specs[(round/2+3)%len(specs)]
		if from.Shape() == to.Shape() {
			continue
		}
		c, at := newCell(from)
		crowd(3, func(worker int) {
			if worker == 0 {
				c.SetSpec(to)
				return
			}
			c.Allow()
		})
		for range 100 {
			c.Allow()
		}
		if c.Allow() || c.left() != 0 {
			t.Errorf("from kind %d to %d: %d remain", from.Kind, to.Kind, c.left())
		}
		at.Add(3 * hour)
		if got := c.left(); got != 50 {
			t.Errorf("from kind %d to %d: %d remain after three hours", from.Kind, to.Kind, got)
		}
	}
}

// TestCellZeroWordIsNotReused: who read the zero word of one limit cannot write it
// into the state of the next.
func TestCellZeroWordIsNotReused(t *testing.T) {
	for _, to := range everyKind(t, 10)[1:] {
		c, _ := newCell(perHour(t, 10))
		word := c.slot.word.Load()
		c.SetSpec(to)
		if c.slot.word.Load() == word {
			t.Errorf("kind %d begins with the word of the limit before it", to.Kind)
		}
		if got := c.left(); got != 10 {
			t.Errorf("kind %d: %d remain, want 10", to.Kind, got)
		}
	}
}

// TestCellGivesBack: refund, debt, cancel, return and reset.
func TestCellGivesBack(t *testing.T) {
	for _, p := range everyKind(t, 10) {
		c, _ := newCell(p)
		b := c.Book(nil, 7, 0)
		if !b.Allowed || b.Spec != p || c.left() != 3 {
			t.Errorf("kind %d: %+v leaves %d", p.Kind, b, c.left())
		}
		c.Settle(b, 2, false)
		if got := c.left(); got != 5 {
			t.Errorf("kind %d: %d remain after a return of 2, want 5", p.Kind, got)
		}
		c.Refund(1)
		c.Settle(b, -3, false)
		if got := c.left(); got != 3 {
			t.Errorf("kind %d: %d remain, want 3", p.Kind, got)
		}
		if v := c.Take(4, 0); v.Allowed || c.left() != 3 {
			t.Errorf("kind %d: 4 of 3 get %+v", p.Kind, v)
		}
		c.Reset()
		if got := c.left(); got != 10 {
			t.Errorf("kind %d: %d remain after a reset", p.Kind, got)
		}
	}
}

// TestCellCancel: a booking that waits is given back only if it is the newest.
func TestCellCancel(t *testing.T) {
	for _, p := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 10, Period: second, Burst: 1},
		{Kind: algo.TokenBucket, Count: 1_000_003, Period: 100_000 * second, Burst: 1},
		{Kind: algo.IntervalBucket, Count: 1, Period: second, Burst: 1},
		{Kind: algo.LeakyBucket, Count: 10, Period: second, Burst: 10},
	} {
		c, at := newCell(compile(t, p))
		now := time.UnixMicro(at.Load())
		book := func() Booking { return c.Book(&now, 1, hour) }
		book()
		a, b := book(), book()
		if a.Wait <= 0 || b.Wait <= a.Wait {
			t.Fatalf("kind %d: waits %d and %d", p.Kind, a.Wait, b.Wait)
		}
		c.Settle(a, 1, true)
		if got := book(); got.Wait <= b.Wait {
			t.Errorf("kind %d: a booking in the middle was given back", p.Kind)
		} else {
			c.Settle(got, 1, true)
		}
		c.Settle(b, 1, true)
		if got := book(); got.Wait != b.Wait {
			t.Errorf("kind %d: the next waits %d, want %d", p.Kind, got.Wait, b.Wait)
		}
	}
}

// TestCellCuts: after the clock went back a denial repairs the state.
func TestCellCuts(t *testing.T) {
	c, at := newCell(compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: second, Burst: 5}))
	c.Take(5, 0)
	at.Add(-100 * second)
	if c.Allow() {
		t.Error("allowed after the clock went back")
	}
	at.Add(5 * second)
	if got := c.left(); got != 5 {
		t.Errorf("%d remain five seconds later, want 5", got)
	}
}
