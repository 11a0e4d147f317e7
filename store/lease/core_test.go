package lease

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// newCore is the lease of a key that is worth one.
func newCore(t *testing.T, def algo.Spec) *core {
	t.Helper()
	spec, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return &core{plan: rules{age: 50_000, share: 0.1}.plan(spec), want: 8}
}

const all = -1

var (
	tenThousand = algo.Spec{Kind: algo.TokenBucket, Count: 10_000, Period: 1e6, Burst: 10_000}
	perHour     = algo.Spec{Kind: algo.FixedWindow, Count: 10_000, Period: 3600 * 1e6}
)

// refill asks at an instant and is answered a ms later: with so much, or with
// all that it wanted.
func (c *core) refill(now, granted int64) *lot {
	r := c.ask(now, 1, 0)
	if granted == all {
		granted = r.want
	}
	l := c.answer(now+1_000, r, grant{granted: granted, verdict: algo.Verdict{Allowed: true, Z: 1e9}})
	c.turn(now + 1_000)
	return l
}

// TestPayFromTwo: the rest of one lot and the beginning of the next pay for one
// request, and can both be put back.
func TestPayFromTwo(t *testing.T) {
	c := newCore(t, perHour)
	c.refill(1_000, 3)
	c.refill(2_000, 10)
	p, ok := c.pay(3_000, 5)
	if !ok || p.part != 3 || p.left != 8 {
		t.Fatalf("%v: %+v", ok, p)
	}
	p.hold()
	c.undo(p)
	if _, ok := c.pay(3_000, 14); ok {
		t.Error("14 of 13")
	}
	if p, ok := c.pay(3_000, 13); !ok || p.left != 0 {
		t.Errorf("%v: %+v", ok, p)
	}
	if _, ok := c.pay(3_000, 1); ok {
		t.Error("1 of 0")
	}
}

// TestThirdLot: the oldest of three makes room and is given back.
func TestThirdLot(t *testing.T) {
	c := newCore(t, perHour)
	c.refill(1_000, 3)
	c.refill(2_000, 4)
	c.refill(3_000, 5)
	if used := c.leftovers(); len(used) != 1 || used[0].unused != 3 {
		t.Errorf("%+v", used)
	}
	if p, ok := c.pay(4_000, 9); !ok || p.part != 4 || p.left != 0 {
		t.Errorf("%v: %+v", ok, p)
	}
}

// TestUndoAfterTheEnd: what is put back into a lot that has ended goes to the
// store, once.
func TestUndoAfterTheEnd(t *testing.T) {
	c := newCore(t, perHour)
	c.refill(1_000, 8)
	p, _ := c.pay(3_000, 5)
	p.hold()
	if used := c.expire(100_000, 0); len(used) != 1 || used[0].unused != 3 {
		t.Fatalf("%+v", used)
	}
	c.undo(p)
	if used := c.leftovers(); len(used) != 1 || used[0].unused != 5 || !c.idle() {
		t.Errorf("%+v", used)
	}
}

// TestBucketsGetNothingBack: tokens of a bucket are lost with their lease.
func TestBucketsGetNothingBack(t *testing.T) {
	c := newCore(t, tenThousand)
	c.refill(1_000, 8)
	if used := c.expire(100_000, 0); used != nil || !c.idle() {
		t.Errorf("%+v", used)
	}
	c.refill(200_000, 8)
	if c.drop(true); c.leftovers() != nil {
		t.Error("dropped tokens are given back")
	}
}

// TestDeadline: by the last µs of its life a lease has been older than the clocks
// may run apart, and not a µs longer.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		def       algo.Spec
		turn, age int64
	}{
		{tenThousand, 0, 50_000},
		{perHour, 1e9, 50_000},
		{perHour, 10_000, 10_000},
	} {
		l := newCore(t, c.def)
		r := l.ask(7_000, 1, 0)
		lot := l.answer(7_100, r, grant{granted: 5, verdict: algo.Verdict{Allowed: true, Z: c.turn}})
		l.turn(7_100)
		if want := 7_000 + c.age - c.age/1_000 - 1; lot.until != want {
			t.Errorf("ends at %d, want %d", lot.until, want)
		}
		if _, ok := l.take(lot.until-1, 1); !ok {
			t.Error("dead before its time")
		}
		if _, ok := l.take(lot.until, 1); ok {
			t.Error("alive at its deadline")
		}
	}
}

// TestBatchFollowsDemand: it doubles while it is used up early, up to the cap;
// is as large as all that wait; and shrinks to half of what was used.
func TestBatchFollowsDemand(t *testing.T) {
	c := newCore(t, perHour)
	now := int64(1_000_000)
	for range 20 {
		c.refill(now, all)
		c.pay(now+2_000, c.cur.Load().left.Load())
		now += 10_000
	}
	if c.want != c.plan.cap {
		t.Errorf("%d wanted, want the cap %d", c.want, c.plan.cap)
	}
	c.refill(now, 1_000)
	c.pay(now+2_000, 100)
	c.expire(now+60_000, 0)
	if c.want != 50 {
		t.Errorf("%d wanted after 100 of 1000 were used", c.want)
	}
	if r := c.ask(now+60_000, 3, 700); r.want != 700 || r.cost != 3 {
		t.Errorf("700 wait, %+v asked", r)
	}
	c.fail(now + 60_000)
	if r := c.ask(now+90_000, 3, 7_000); r.want != c.plan.cap {
		t.Errorf("7000 wait, %+v asked", r)
	}
}

// TestWorthALease: four tokens within half of a lease's life.
func TestWorthALease(t *testing.T) {
	c := newCore(t, perHour)
	c.want = 1
	for i, step := range []struct {
		at, cost int64
		want     bool
	}{
		{1_000_000, 1, false},
		{1_001_000, 1, false},
		{1_002_000, 1, false},
		{1_030_000, 1, false},
		{1_031_000, 2, false},
		{1_032_000, 1, true},
	} {
		if got := c.miss(step.at, step.cost); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

// TestShortAnswers: little is not asked for again at once, and a store that is
// too slow is not asked for leases for a while.
func TestShortAnswers(t *testing.T) {
	c := newCore(t, perHour)
	if c.refill(1_000, 2); c.rest != 1_000+50_000/16 || c.want != 2 {
		t.Errorf("rests until %d, wants %d", c.rest, c.want)
	}
	r := c.ask(1_000_000, 1, 0)
	if l := c.answer(1_060_000, r, grant{granted: 2, verdict: algo.Verdict{Allowed: true, Z: 1e9}}); l != nil {
		t.Error("a lot that came too late")
	}
	if used := c.leftovers(); len(used) != 1 || c.miss(1_070_000, 10) || !c.miss(2_100_000, 10) {
		t.Errorf("%+v given back; off until %d", used, c.off)
	}
}

// TestVoidAnswer: an answer to a request from before the lease was dropped
// gives nothing. It is given back, unless a reset was among the reasons.
func TestVoidAnswer(t *testing.T) {
	for _, c := range []struct {
		drops []bool
		want  int64
	}{
		{[]bool{true}, 8},
		{[]bool{true, true}, 8},
		{[]bool{false}, 0},
		{[]bool{false, true}, 0},
	} {
		l := newCore(t, perHour)
		r := l.ask(1_000, 1, 0)
		for _, back := range c.drops {
			l.drop(back)
		}
		lot := l.answer(2_000, r, grant{granted: 8, verdict: algo.Verdict{Allowed: true, Z: 1e9}})
		unused := int64(0)
		for _, u := range l.leftovers() {
			unused += u.unused
		}
		if lot != nil || unused != c.want || !l.idle() {
			t.Errorf("%v: %+v, %d given back, want %d", c.drops, lot, unused, c.want)
		}
	}
}
