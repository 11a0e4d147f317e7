package linear

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// call is one Take, at a known instant.
type call struct {
	op     store.Op
	now    int64
	checks []store.Check
}

// answer is what a client saw of one check.
type answer struct {
	allowed, never                bool
	wait, remaining, retry, reset int64
}

// answersOf returns what a client can see of checks after op.
func answersOf(op store.Op, checks []store.Check) []answer {
	seen := make([]answer, len(checks))
	for i, c := range checks {
		switch v, p := c.Verdict, c.Spec; op {
		case store.Spend, store.Reserve:
			seen[i] = answer{v.Allowed, v.Never, v.Wait, p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v)}
		case store.Commit:
			seen[i].allowed = v.Allowed
		}
	}
	return seen
}

// name is the identity of a state.
type name struct {
	key   string
	shape uint64
}

type ticket struct {
	name
	id string
}

// booked is an open reservation. Clients never wait, so it counts at once.
type booked struct {
	cost, at int64
	mark     algo.Mark
	verdict  algo.Verdict
	shift    int64 // by what was given back since
}

// world is the state of the model: all keys, all reservations.
type world struct {
	states map[name]algo.State
	open   map[ticket]booked
}

func newWorld() world { return world{map[name]algo.State{}, map[ticket]booked{}} }

// clone returns a copy that shares nothing.
func (w world) clone() world {
	c := world{make(map[name]algo.State, len(w.states)), maps.Clone(w.open)}
	for n, s := range w.states {
		s.More = slices.Clone(s.More)
		c.states[n] = s
	}
	return c
}

func (w world) equal(o world) bool {
	return maps.Equal(w.open, o.open) && maps.EqualFunc(w.states, o.states, func(a, b algo.State) bool {
		return a.T == b.T && a.F == b.F && a.G == b.G && a.Ahead == b.Ahead && slices.Equal(a.More, b.More)
	})
}

// with lets f change the state of a check.
func (w world) with(c *store.Check, f func(s *algo.State)) {
	n := name{c.Key, c.Spec.Shape()}
	s := w.states[n]
	f(&s)
	w.states[n] = s
}

// step returns the world after a call, and its answers.
func (w world) step(c call) (world, []answer) {
	checks := slices.Clone(c.checks)
	after := w.clone()
	if c.op == store.Spend || c.op == store.Reserve {
		if !after.spend(c, checks) {
			after = w.clone()
			after.cut(c, checks)
		}
		return after, answersOf(c.op, checks)
	}
	for i := range checks {
		after.change(c, &checks[i])
	}
	return after, answersOf(c.op, checks)
}

// spend takes all checks one after the other and reports whether all are allowed.
func (w world) spend(c call, checks []store.Check) bool {
	all := true
	for i := range checks {
		k := &checks[i]
		t := ticket{name{k.Key, k.Spec.Shape()}, k.ID}
		if b, ok := w.open[t]; ok && c.op == store.Reserve {
			k.Verdict = b.verdict
			continue
		}
		w.with(k, func(s *algo.State) {
			k.Verdict = algo.Check(k.Spec, s, c.now, k.Cost, 0)
			if !k.Verdict.Allowed {
				all = false
				return
			}
			if k.Cost > 0 {
				algo.Spend(k.Spec, s, c.now, k.Cost)
			}
			if c.op == store.Reserve {
				w.open[t] = booked{k.Cost, c.now, k.Spec.Mark(s), k.Verdict, 0}
			}
		})
	}
	return all
}

// cut is what a denial may write.
func (w world) cut(c call, checks []store.Check) {
	for i := range checks {
		if k := &checks[i]; k.Cost > 0 && !k.Verdict.Allowed {
			w.with(k, func(s *algo.State) { algo.Cut(k.Spec, s, c.now) })
		}
	}
}

func (w world) change(c call, k *store.Check) {
	n := name{k.Key, k.Spec.Shape()}
	switch c.op {
	case store.Refund:
		w.with(k, func(s *algo.State) {
			before := k.Spec.Mark(s)
			algo.Refund(k.Spec, s, c.now, k.Cost)
			w.moved(n, k.Spec.Shift(before, k.Spec.Mark(s)))
		})
	case store.Reset:
		delete(w.states, n)
		maps.DeleteFunc(w.open, func(t ticket, _ booked) bool { return t.name == n })
	case store.Commit:
		t := ticket{n, k.ID}
		b, ok := w.open[t]
		delete(w.open, t)
		if k.Verdict = (algo.Verdict{Allowed: ok}); !ok {
			return
		}
		w.with(k, func(s *algo.State) {
			before := k.Spec.Mark(s)
			if unused := b.cost - k.Cost; unused > 0 {
				algo.Return(k.Spec, s, c.now, unused, b.at, b.mark, b.shift)
			} else if unused < 0 {
				algo.Spend(k.Spec, s, c.now, -unused)
			}
			if before != k.Spec.Shifted(b.mark, b.shift) { // the newest moves no other
				w.moved(n, k.Spec.Shift(before, k.Spec.Mark(s)))
			}
		})
	}
}

// moved tells the reservations of a state what was given back to it.
func (w world) moved(n name, by int64) {
	for t, b := range w.open {
		if t.name == n {
			b.shift += by
			w.open[t] = b
		}
	}
}

// model is the specification for porcupine: one world for all keys, because one
// call may name several.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return newWorld() },
		Step: func(state, input, output any) (bool, any) {
			after, want := state.(world).step(input.(call))
			return slices.Equal(want, output.([]answer)), after
		},
		Equal: func(a, b any) bool { return a.(world).equal(b.(world)) },
		DescribeOperation: func(input, output any) string {
			c := input.(call)
			text := fmt.Sprintf("op %d at %d:", c.op, c.now)
			for i, k := range c.checks {
				text += fmt.Sprintf(" %s %d %s -> %+v", k.Key, k.Cost, k.ID, output.([]answer)[i])
			}
			return text
		},
	}
}
