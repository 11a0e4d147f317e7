package redis

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// request is one Spend or Lease as it was asked, reply what came back.
type request struct {
	op     store.Op
	checks []store.Check
}

type reply struct {
	now     int64 // when the server decided
	answers []answer
}

// answer is what a caller sees of one check.
type answer struct {
	allowed, never          bool
	remaining, retry, reset int64
	granted                 int64
}

func answersOf(checks []store.Check) []answer {
	seen := make([]answer, len(checks))
	for i, c := range checks {
		v, p := c.Verdict, c.Spec
		seen[i] = answer{v.Allowed, v.Never, p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v), c.Granted}
	}
	return seen
}

// world is the state of the model: every limit of every key, by package algo.
type world map[name]algo.State

type name struct {
	key   string
	shape uint64
}

func (w world) clone() world {
	c := make(world, len(w))
	for n, s := range w {
		s.More = slices.Clone(s.More)
		c[n] = s
	}
	return c
}

func equalStates(a, b algo.State) bool {
	return a.T == b.T && a.F == b.F && a.G == b.G && a.Ahead == b.Ahead && slices.Equal(a.More, b.More)
}

// with lets f change the state of a check.
func (w world) with(c *store.Check, f func(s *algo.State)) {
	n := name{c.Key, c.Spec.Shape()}
	s := w[n]
	f(&s)
	w[n] = s
}

// step returns the world after a request that was decided at now, and its answers.
func (w world) step(q request, now int64) (world, []answer) {
	checks, after := slices.Clone(q.checks), w.clone()
	if q.op == store.Lease {
		for i := range checks {
			after.with(&checks[i], func(s *algo.State) { lease(&checks[i], s, now) })
		}
	} else if !after.spend(checks, now) {
		after = w.clone()
		after.cut(checks, now)
	}
	return after, answersOf(checks)
}

// spend takes all checks one after the other and reports whether all are allowed.
func (w world) spend(checks []store.Check, now int64) bool {
	all := true
	for i := range checks {
		c := &checks[i]
		w.with(c, func(s *algo.State) {
			c.Verdict = algo.Check(c.Spec, s, now, c.Cost, 0)
			if c.Verdict.Allowed && c.Cost > 0 {
				algo.Spend(c.Spec, s, now, c.Cost)
			}
			all = all && c.Verdict.Allowed
		})
	}
	return all
}

// cut is what a denial may write.
func (w world) cut(checks []store.Check, now int64) {
	for i := range checks {
		if c := &checks[i]; c.Cost > 0 && !c.Verdict.Allowed {
			w.with(c, func(s *algo.State) { algo.Cut(c.Spec, s, now) })
		}
	}
}

// lease takes the most between Cost and Want, by halving.
func lease(c *store.Check, s *algo.State, now int64) {
	for want := c.Want; ; want = max(c.Cost, want/2) {
		c.Verdict = algo.Decide(c.Spec, s, now, want, 0)
		if c.Verdict.Allowed {
			c.Granted = want
			return
		}
		if want == c.Cost {
			return
		}
	}
}

// model is the specification for porcupine: one world for all keys, because one
// request may name several.
var model = porcupine.Model{
	Init: func() any { return world{} },
	Step: func(state, input, output any) (bool, any) {
		out := output.(reply)
		after, want := state.(world).step(input.(request), out.now)
		return slices.Equal(want, out.answers), after
	},
	Equal: func(a, b any) bool { return maps.EqualFunc(a.(world), b.(world), equalStates) },
	DescribeOperation: func(input, output any) string {
		q, out := input.(request), output.(reply)
		text := fmt.Sprintf("op %d at %d:", q.op, out.now)
		for i, c := range q.checks {
			text += fmt.Sprintf(" %s cost %d -> %+v", c.Key, c.Cost, out.answers[i])
		}
		return text
	},
}
