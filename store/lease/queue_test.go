package lease

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// crowd is an entry in whose queue requests of the given costs wait.
func crowd(t *testing.T, def algo.Spec, costs ...int64) (*entry, []*waiter) {
	t.Helper()
	c := newCore(t, def)
	e := newEntry(0, "k", 0, c.plan, 0)
	e.core.want = 8
	var queue []*waiter
	for _, cost := range costs {
		queue = append(queue, e.join(cost))
	}
	return e, queue
}

// outcomes tells what became of waiters: p(aid), d(enied), s(ent to the store),
// or w(aits).
func outcomes(queue []*waiter) string {
	text := ""
	for _, w := range queue {
		select {
		case r := <-w.done:
			text += []string{paid: "p", denied: "d", direct: "s", failed: "f"}[r.how]
		default:
			text += "w"
		}
	}
	return text
}

// decide lets a store of the given state decide the request of the crowd.
func (e *entry) decide(state *algo.State, late ...*waiter) {
	r := e.ask(1_000)
	for _, w := range late {
		w.asked = false
	}
	p, g := e.core.plan.spec, grant{}
	for g.granted = r.want; ; g.granted = max(r.cost, g.granted/2) {
		if g.verdict = algo.Decide(p, state, 1e12, g.granted, 0); g.verdict.Allowed || g.granted == r.cost {
			break
		}
	}
	if !g.verdict.Allowed {
		g.granted = 0
	}
	e.core.answer(2_000, r, g)
	e.resolve(2_000, r, g.verdict)
}

// spent is a state of which so much is left.
func spent(p *algo.Spec, left int64) *algo.State {
	s := &algo.State{}
	whole := p.Burst
	if p.Kind != algo.TokenBucket {
		whole = p.Count
	}
	if whole > left {
		algo.Spend(p, s, 1e12, whole-left)
	}
	return s
}

// TestInOrder: those who wait are served in the order in which they came; only
// who was there when the store was asked, and for whom by its own account nothing
// was left, is denied.
func TestInOrder(t *testing.T) {
	slide := algo.Spec{Kind: algo.SlidingWindow, Count: 10_000, Period: 1e6, Sub: 10}
	for _, c := range []struct {
		name  string
		def   algo.Spec
		left  int64
		costs []int64
		want  string
	}{
		{"enough for all", tenThousand, 9_000, []int64{1, 2, 3, 4}, "pppp"},
		{"nothing", tenThousand, 0, []int64{1, 2, 3}, "ddd"},
		{"nothing in a window", perHour, 0, []int64{1, 2, 3}, "ddd"},
		{"nothing in a sliding window", slide, 0, []int64{2, 3, 2, 1}, "dsdw"},
		{"half, by halving, and a rest", tenThousand, 7, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "pppppwwddd"},
		{"the first is too large", perHour, 3, []int64{4, 1, 2, 1}, "dwwd"},
		{"one in between is too large", perHour, 4, []int64{2, 5, 1}, "pdp"},
		{"what is here and what is there", perHour, 7, []int64{2, 4, 2, 1, 2}, "pwdwd"},
	} {
		e, everyone := crowd(t, c.def, c.costs...)
		e.decide(spent(e.core.plan.spec, c.left))
		if got := outcomes(everyone); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLateComers: who came after the store was asked is not denied by its
// answer.
func TestLateComers(t *testing.T) {
	e, everyone := crowd(t, tenThousand, 1, 1, 1)
	e.decide(spent(e.core.plan.spec, 0), everyone[2])
	if got := outcomes(everyone); got != "ddw" || len(e.queue) != 1 {
		t.Errorf("%s, %d wait", got, len(e.queue))
	}
	if !e.leave(everyone[2]) || e.leave(everyone[2]) || len(e.queue) != 0 {
		t.Error("who waits can leave, once")
	}
}

// TestDenialsAreHonest: the time after which to ask again is that of the cost.
func TestDenialsAreHonest(t *testing.T) {
	e, everyone := crowd(t, tenThousand, 1, 5, 10)
	p := e.core.plan.spec
	state := spent(p, 0)
	e.decide(state)
	for _, w := range everyone {
		got, want := <-w.done, algo.Check(p, state, 1e12, w.cost, 0)
		if p.RetryAfter(got.verdict) != p.RetryAfter(want) || p.Remaining(got.verdict) != 0 {
			t.Errorf("cost %d: %+v, want %+v", w.cost, got.verdict, want)
		}
	}
}

// TestPlaces: a key takes the place of an idle one, and of no other.
func TestPlaces(t *testing.T) {
	p := newCore(t, perHour).plan
	var tab table
	tab.init(1)
	var first []*entry
	for i := range ways {
		first = append(first, tab.add(string(rune('a'+i)), p, 0))
	}
	if tab.add("x", p, 1_000) != nil {
		t.Error("a place for one too many")
	}
	for _, e := range first[1:] {
		e.listed = true
	}
	e := tab.add("x", p, 100_000)
	if e == nil || !first[0].dead || tab.find("a", p.of.Shape()) != nil || tab.find("x", p.of.Shape()) != e {
		t.Error("the idle key keeps its place")
	}
	if tab.add("x", p, 100_000) != e || tab.add("y", p, 100_000) != nil {
		t.Error("a key is found twice, or drives out one in use")
	}
}
