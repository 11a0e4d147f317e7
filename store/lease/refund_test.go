package lease

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// TestRefundIntoTheLot: a lot takes back what left it, and no more: not what may
// still be put back by somebody else, and nothing after its end.
func TestRefundIntoTheLot(t *testing.T) {
	c := newCore(t, tenThousand)
	c.refill(1_000, 8)
	held, _ := c.pay(2_000, 3)
	held.hold()
	c.pay(2_000, 2)
	if back := c.refund(3_000, 4); back != 2 || c.held(3_000) != 5 {
		t.Errorf("2 were spent for good, %d refunded, %d held", back, c.held(3_000))
	}
	c.undo(held)
	if back := c.refund(3_000, 4); back != 0 || c.held(3_000) != 8 {
		t.Errorf("nothing was spent, %d refunded, %d held", back, c.held(3_000))
	}
	c.pay(3_000, 5)
	if back := c.refund(60_000, 4); back != 0 {
		t.Errorf("%d refunded after the end", back)
	}
}

// TestRefundRevives: the lot that was used up last is of use again.
func TestRefundRevives(t *testing.T) {
	c := newCore(t, tenThousand)
	l := c.refill(1_000, 8)
	c.pay(2_000, 8)
	c.turn(2_000)
	if !c.idle() || c.refund(3_000, 2) != 2 || c.refund(3_000, 7) != 6 {
		t.Fatalf("8 were spent, %d held after a refund", c.held(3_000))
	}
	if p, ok := c.pay(4_000, 8); !ok || p.lot != l {
		t.Errorf("%v: %+v", ok, p)
	}
}

// TestRefundServes: a refund serves who waits, before all others.
func TestRefundServes(t *testing.T) {
	e, first := crowd(t, perHour, 8)
	e.decide(spent(e.core.plan.spec, 8))
	e.core.turn(2_000)
	w := e.join(3)
	if rest := e.refund(3_000, 4); rest != 0 || outcomes(append(first, w)) != "pp" || e.core.held(3_000) != 1 {
		t.Errorf("%d left to refund, %d held", rest, e.core.held(3_000))
	}
}

// TestRefundToTheStore: what was not spent out of living lots goes to the store.
// A window's lease is given back before; a bucket's, which would be lost, is only
// given up for more than it is.
func TestRefundToTheStore(t *testing.T) {
	for _, c := range []struct {
		def                algo.Spec
		asking             bool
		cost               int64
		rest, held, unused int64
	}{
		{perHour, false, 5, 2, 0, 8},
		{perHour, true, 5, 2, 0, 8},
		{tenThousand, false, 5, 0, 8, 0},
		{tenThousand, false, 12, 9, 0, 0},
		{tenThousand, true, 12, 0, 8, 0},
	} {
		e, _ := crowd(t, c.def)
		e.core.refill(1_000, 8)
		e.core.pay(2_000, 3)
		if c.asking {
			e.core.ask(2_000, 1, 8)
		}
		unused := int64(0)
		rest := e.refund(3_000, c.cost)
		for _, u := range e.core.leftovers() {
			unused += u.unused
		}
		if rest != c.rest || e.core.held(3_000) != c.held || unused != c.unused {
			t.Errorf("%+v: %d to the store, %d held, %d given back", c, rest, e.core.held(3_000), unused)
		}
	}
}

// TestUndoAfterReset: what the store has forgotten is not given back, whoever
// puts it back when.
func TestUndoAfterReset(t *testing.T) {
	c := newCore(t, perHour)
	c.refill(1_000, 8)
	p, _ := c.pay(3_000, 5)
	p.hold()
	c.drop(false)
	c.drop(true) // for another reason
	if c.undo(p); !c.idle() {
		t.Errorf("%+v", c.leftovers())
	}
}

// TestDropIsNoDemand: that a lease was dropped early does not make the next batch
// larger.
func TestDropIsNoDemand(t *testing.T) {
	c := newCore(t, perHour)
	c.refill(1_000, all)
	c.drop(true)
	if r := c.ask(3_000, 1, 0); r.want != 8 {
		t.Errorf("8 wanted before, %d after", r.want)
	}
}

// TestWaitersFirst: those who hold no lock see nothing of an answer before those
// who wait were served.
func TestWaitersFirst(t *testing.T) {
	c := newCore(t, perHour)
	c.answer(2_000, c.ask(1_000, 1, 8), grant{granted: 8, verdict: algo.Verdict{Allowed: true, Z: 1e9}})
	if _, ok := c.take(2_000, 1); ok {
		t.Error("overtaken")
	}
	if _, ok := c.draw(2_000, 3); !ok {
		t.Error("not served")
	}
	c.turn(2_000)
	if p, ok := c.take(2_000, 1); !ok || p.left != 4 {
		t.Errorf("%v: %+v", ok, p)
	}
}
