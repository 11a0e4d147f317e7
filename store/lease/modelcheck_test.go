package lease

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

const tick = 1000 // µs

// ageOf is an age after which tokens just live to see the given tick.
func ageOf(ticks int64) int64 { return ticks*tick + ticks*tick/driftOf + 3 }

// scope is a small world to look at from all sides: every order of requests,
// messages, expiries, returns, crashes and steps of time, for ever. What size a
// batch has and when it is asked for is left open as well, so that no policy can
// go further than this.
type scope struct {
	limit algo.Spec
	rules rules
	nodes int
	mail  int // most messages of nobody under way
	costs []int64
	wants []int64
	holds bool  // requests over several limits, too
	backs bool  // and refunds
	reset bool  // and resets, by the only instance
	bound int64 // of a bucket's level, or of a window's count

	plan   *plan
	tamper func(l *lot) // breaks a new lot, to see whether it is noticed

	states   int
	greatest int64
	trace    string
}

// explore visits every state that can be reached.
func (s *scope) explore(t testing.TB) {
	t.Helper()
	spec, err := algo.Compile(s.limit)
	if err != nil {
		t.Fatal(err)
	}
	if s.plan == nil {
		s.plan = s.rules.plan(spec)
	}
	if !s.plan.leased() {
		t.Fatal(s.plan.off)
	}
	first := &world{scope: s, now: 1_000_000 * s.limit.Period}
	for i := range s.nodes {
		n := &node{skew: int64(i) * 77_777}
		n.core = &core{plan: s.plan, want: 1}
		first.nodes = append(first.nodes, n)
	}
	steps := []step{{w: first, from: -1, move: move{verb: "start"}}}
	seen := map[string]bool{first.key(): true}
	for i := 0; i < len(steps); i++ {
		w := steps[i].w
		steps[i].w = nil
		if load := w.judge.load(s); load > s.greatest {
			s.greatest, s.trace = load, trace(steps, i)
			if load > s.bound {
				break
			}
		}
		for _, m := range w.moves() {
			next := w.copy()
			if !next.make(m) || next.crowded() {
				continue
			}
			if k := next.key(); !seen[k] {
				seen[k] = true
				steps = append(steps, step{next, i, m})
			}
		}
	}
	s.states = len(seen)
	t.Logf("%d states; most admitted %d of %d", s.states, s.greatest, s.bound)
}

// crowded tells worlds with more to give back than we look at.
func (w *world) crowded() bool {
	unsent := 0
	for _, n := range w.nodes {
		unsent += len(n.core.used)
	}
	return unsent+len(w.mail) > max(1, w.scope.mail)
}

// step is how a state was reached first.
type step struct {
	w    *world
	from int
	move move
}

// trace tells the way to a step.
func trace(steps []step, i int) (lines string) {
	for ; i >= 0; i = steps[i].from {
		lines = fmt.Sprintln(steps[i].move) + lines
	}
	return lines
}

// move is something that can happen: to an instance, or to a message.
type move struct {
	verb string
	i    int
	n    int64
}

// moves lists what could happen next.
func (w *world) moves() []move {
	moves := []move{{verb: "tick"}}
	for i, n := range w.nodes {
		add := func(possible bool, verb string, amounts ...int64) {
			for _, a := range amounts {
				if possible {
					moves = append(moves, move{verb, i, a})
				}
			}
		}
		p, lots := w.scope.plan, n.core.cur.Load() != nil
		add(lots, "takes", w.scope.costs...)
		add(lots && w.scope.holds && n.held.lot == nil, "takes for a while", w.scope.costs...)
		add(n.held.lot != nil, "undoes", n.held.cost)
		add(w.scope.reset, "resets", 0)
		add(w.scope.backs && (lots || n.core.past != nil), "refunds", w.scope.costs...)
		add(i == 0, "asks the store for", w.scope.costs...)
		add(!n.sent, "sends for", w.scope.wants...)
		add(n.sent && !n.done, "is granted", n.req.want)
		add(n.done, "is answered", n.grant.granted)
		add(n.sent, "loses the answer", n.req.want)
		add(lots || len(n.core.used) > 0, "expires", 0)
		add(lots && p.returns, "gives back early", p.age)
		add(lots || n.sent, "drops", 0)
		add(lots || n.sent, "crashes", 0)
	}
	for i, m := range w.mail {
		moves = append(moves, move{"mail arrives", i, m.cost}, move{"mail is lost", i, m.cost})
	}
	return moves
}

// make makes a move, and reports whether it was possible.
func (w *world) make(m move) bool {
	var n *node
	if m.i < len(w.nodes) {
		n = w.nodes[m.i]
	}
	switch m.verb {
	case "tick":
		return w.tick()
	case "takes":
		return w.take(n, m.n)
	case "takes for a while":
		return w.hold(n, m.n)
	case "undoes":
		return w.undo(n)
	case "resets":
		return w.reset(n)
	case "refunds":
		return w.refund(n, m.n)
	case "asks the store for":
		return w.direct(m.n)
	case "sends for":
		return w.send(n, m.n)
	case "is granted":
		n.grant, n.done = w.lease(n.req), true
		return true
	case "is answered":
		return w.answer(n)
	case "loses the answer":
		return w.lose(n)
	case "expires", "gives back early":
		return w.post(n.core.expire(w.now+n.skew, m.n))
	case "drops":
		n.core.drop(true)
		return w.post(n.core.leftovers())
	case "crashes":
		return w.crash(n)
	case "mail arrives":
		return w.deliver(m.i)
	}
	w.mail = slices.Delete(w.mail, m.i, m.i+1)
	return true
}
