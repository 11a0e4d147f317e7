package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// shade makes shadows of some checks at the end, every other time.
func shade(r *rand.Rand, checks []store.Check) {
	first := len(checks)
	if r.IntN(2) == 0 {
		first = r.IntN(len(checks) + 1)
	}
	for i := range checks {
		checks[i].Shadow = i >= first
	}
}

// TestRowsLikeTheModel asks several token buckets of one key, some of them as
// shadows, which has a way of its own through the script: all answers are the model's.
func TestRowsLikeTheModel(t *testing.T) {
	c := dial(t, redistest.Start(t))
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(150, 5_000)) {
		r := algotest.Rand(seed, n)
		m := newMany(t, c, r, algo.TokenBucket)
		m.name = fmt.Sprintf("seed %d, round %d", seed, n)
		m.limits = m.limits[:2]
		for i := range r.Int64N(3) {
			def := algotest.RandomSpec(r, algo.TokenBucket)
			def.Ordinal = 2 + i
			m.limits = append(m.limits, &limit{def, mustCompile(t, def)})
		}
		if m.rows(); t.Failed() {
			break
		}
	}
	wantLifetimes(t, c)
}

// rows makes a hundred calls of a few requests each.
func (m *many) rows() {
	for range 100 {
		m.Step()
		for range 1 + m.Rand.IntN(4) {
			m.row()
		}
		m.flush()
		switch m.Rand.IntN(20) {
		case 0:
			l := algotest.Pick(m.Rand, m.limits)
			l.def = algotest.RandomChange(m.Rand, l.def)
			l.spec = mustCompile(m, l.def)
		case 1:
			m.back()
		case 2:
			m.giveBack()
			m.flush()
		}
		if m.Failed() || m.Now > latest {
			return
		}
	}
}

// TestShadowOneCall: shadows ride in the call of the others, whatever their limits.
func TestShadowOneCall(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	bucket := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 5})
	for _, dark := range everyKind(t) {
		checks := []store.Check{{Key: "k", Spec: bucket}, {Key: "k", Spec: dark, Shadow: true}, {Key: "l", Spec: dark, Cost: 1, Shadow: true}}
		take(t, s, store.Spend, checks...) // the script is there
		do(t, c, "CONFIG", "RESETSTAT")
		take(t, s, store.Spend, checks...)
		if calls := scriptCalls(t, c); calls != "[cmdstat_evalsha:calls=1]" {
			t.Errorf("kind %d: a decision made %s", dark.Kind, calls)
		}
	}
}

// TestShadowSlots: in a cluster shadows are spent in the end only if all others are,
// wherever they lie.
func TestShadowSlots(t *testing.T) {
	c := clusterNode(t)
	p := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 10})
	for _, op := range []store.Op{store.Spend, store.Reserve} {
		for _, firm := range [][]int{{0, 1}, {0, 2}, {1, 2}, {2, 0}, {1}, {}} {
			s := open(t, c, redisstore.Cluster(), redisstore.Prefix(fmt.Sprint("test", serial.Add(1))))
			w := slots{t, s, spread(t, s, p, 4), firm}
			w.want(op, nil, 9, 9)
			w.want(op, []int{3}, 8, 8) // a shadow that has a slot of its own
			for _, i := range firm {
				w.want(op, []int{i}, 8, 8)
			}
		}
	}
}

// slots are keys that lie in several slots of a cluster, of which only some are no
// shadows.
type slots struct {
	t    *testing.T
	s    *redisstore.Store
	keys []store.Check
	firm []int
}

// want makes a call in which some keys are denied, and looks at what is left to
// those that are no shadows, and to the shadows; to the last key, which is always
// one, what was left before if it was denied.
func (w slots) want(op store.Op, denied []int, firm, dark int64) {
	w.t.Helper()
	var checks []store.Check
	rest := map[int]bool{0: true, 1: true, 2: true, 3: true}
	for _, i := range w.firm {
		checks = append(checks, w.keys[i])
		delete(rest, i)
	}
	for i := range w.keys {
		if c := w.keys[i]; rest[i] {
			c.Shadow = true
			checks = append(checks, c)
		}
	}
	for i := range checks {
		checks[i].ID = fmt.Sprint(serial.Add(1))
		for _, d := range denied {
			if checks[i].Key == w.keys[d].Key {
				checks[i].Cost = 11
			}
		}
	}
	got := take(w.t, w.s, op, checks...)
	for _, c := range got {
		want := dark
		if !c.Shadow {
			want = firm
		}
		if c.Key == w.keys[3].Key && firm == 8 {
			want = 9
		}
		if c.Verdict.Allowed != (c.Cost == 1) {
			w.t.Errorf("operation %d, not shadows %v, denied %v: cost %d: allowed %v", op, w.firm, denied, c.Cost, c.Verdict.Allowed)
		}
		peek := take(w.t, w.s, store.Spend, store.Check{Key: c.Key, Spec: c.Spec})[0]
		if left := c.Spec.Remaining(peek.Verdict); left != want {
			w.t.Errorf("operation %d, not shadows %v, denied %v: %d left to %s, want %d", op, w.firm, denied, left, c.Key, want)
		}
	}
}

// TestDenialShadow: a shadow that is known to be denied is no reason to answer for
// the others, unless there are none.
func TestDenialShadow(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	d := redisstore.NewDenials(64, time.Second)
	redisstore.DenialLearn(d, 1, []store.Check{denialFor(spec, "ann", 1, 0), denialFor(spec, "bob", 1, 0)})
	check := func(key string, shadow bool) store.Check {
		return store.Check{Key: key, Spec: spec, Cost: 1, Shadow: shadow}
	}
	for _, c := range []struct {
		name   string
		checks []store.Check
		want   bool
	}{
		{"a shadow beside another", []store.Check{check("eve", false), check("ann", true)}, false},
		{"a shadow beside a shadow", []store.Check{check("eve", true), check("ann", true)}, false},
		{"nothing but shadows", []store.Check{check("bob", true), check("ann", true)}, true},
		{"one shadow", []store.Check{check("ann", true)}, true},
		{"another beside a shadow", []store.Check{check("ann", false), check("bob", true), check("eve", true)}, true},
	} {
		got := redisstore.DenialAnswer(d, 11, c.checks)
		if got != c.want {
			t.Errorf("%s: answered %v, want %v", c.name, got, c.want)
		}
		for _, k := range c.checks {
			if got && k.Verdict.Allowed != (k.Key == "eve") {
				t.Errorf("%s: %s: allowed %v", c.name, k.Key, k.Verdict.Allowed)
			}
		}
	}
}

// TestShadowIsNotTheDenial: a process that has heard of a shadow's denial goes on
// asking the server for the others.
func TestShadowIsNotTheDenial(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	many := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 5})
	few := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 1, Ordinal: 1})
	for i := range 7 {
		checks := []store.Check{{Key: "k", Spec: many, Cost: 1}, {Key: "k", Spec: few, Cost: 1, Shadow: true}}
		if err := s.Take(context.Background(), store.Spend, checks); err != nil {
			t.Fatal(err)
		}
		if checks[0].Verdict.Allowed != (i < 5) || checks[1].Verdict.Allowed != (i < 1) {
			t.Errorf("request %d: allowed %v, its shadow %v", i, checks[0].Verdict.Allowed, checks[1].Verdict.Allowed)
		}
	}
}

// TestShadowSlotsComeLast: what lies in a slot of nothing but shadows is never spent
// to be given back.
func TestShadowSlotsComeLast(t *testing.T) {
	c := clusterNode(t)
	s := open(t, c, redisstore.Cluster())
	p := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 10})
	keys := spread(t, s, p, 4)
	take(t, s, store.Spend, keys...)
	for i := range keys {
		keys[0], keys[i] = keys[i], keys[0]
		checks := append([]store.Check(nil), keys...)
		checks[0].Cost = 11
		for j := range checks[1:] {
			checks[1+j].Shadow = true
		}
		do(t, c, "CONFIG", "RESETSTAT")
		take(t, s, store.Spend, checks...)
		if calls := scriptCalls(t, c); calls != "[cmdstat_evalsha:calls=4]" {
			t.Errorf("a denied decision over four slots made %s", calls)
		}
	}
}

// TestShadowSlotsGiveBackWhatWasSpent: a shadow that was denied gives nothing back,
// even if its check still tells of a spend before.
func TestShadowSlotsGiveBackWhatWasSpent(t *testing.T) {
	c := clusterNode(t)
	s := open(t, c, redisstore.Cluster())
	p := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 10})
	dark := mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 10, Ordinal: 1})
	keys := spread(t, s, p, 2)
	for i := range keys {
		checks := []store.Check{keys[i], keys[1-i], {Key: keys[i].Key, Spec: dark, Cost: 6, Shadow: true}}
		take(t, s, store.Spend, checks...)
		checks[1].Cost = 11
		take(t, s, store.Spend, checks...)
		peek := take(t, s, store.Spend, store.Check{Key: keys[i].Key, Spec: dark})[0]
		if left := dark.Remaining(peek.Verdict); left != 4 {
			t.Errorf("%d left to a shadow that was spent once, want 4", left)
		}
	}
}
