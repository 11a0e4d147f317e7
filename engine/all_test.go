package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// marked is a rule by user for requests that have an attribute of its name.
func marked(name string, texts ...string) rule.Rule {
	r := perUser(name, texts...)
	r.Match.Attributes = map[string]string{name: "*"}
	return r
}

// mark is a request of a user to which a marked rule applies.
func mark(name, user string, cost int64) engine.Request {
	r := from(user)
	r.Attributes, r.Cost = map[string]string{name: "yes"}, cost
	return r
}

// calls is a store that counts what it is asked.
type calls struct {
	store.Store
	n int
}

func (c *calls) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	c.n++
	return c.Store.Take(ctx, op, checks)
}

// allSteps are about rules a (5 per hour), b (9, and 8 on this instance) and c (2, in
// shadow), and one that applies to everything (7).
var allSteps = []struct {
	name  string
	all   []engine.Request
	whole string
	each  []string
}{
	{
		"different costs",
		[]engine.Request{mark("a", "ann", 2), mark("b", "ann", 3)},
		"allowed by a left 3",
		[]string{"allowed by a left 3", "allowed by every left 4"},
	},
	{
		"one denies",
		[]engine.Request{mark("b", "bob", 1), mark("a", "ann", 4)},
		"denied limited by a left 3 retry 1h0m0s",
		[]string{"allowed by every left 6", "denied limited by a left 3 retry 1h0m0s"},
	},
	{
		"nothing was spent then",
		[]engine.Request{mark("b", "bob", 1), mark("a", "ann", 1)},
		"allowed by a left 2",
		[]string{"allowed by every left 6", "allowed by a left 2"},
	},
	{
		"a rule under two keys",
		[]engine.Request{mark("a", "cid", 1), mark("a", "dan", 5)},
		"allowed by a left 0",
		[]string{"allowed by a left 4", "allowed by a left 0"},
	},
	{
		"a rule under one key",
		[]engine.Request{mark("a", "eve", 1), mark("a", "eve", 4)},
		"allowed by a left 1",
		[]string{"allowed by a left 1", "allowed by a left 1"},
	},
	{
		"shadow",
		[]engine.Request{mark("c", "", 1), mark("c", "fay", 3)},
		"allowed by every left 4 shadow",
		[]string{"allowed", "allowed by every left 4"},
	},
	{
		"what holds for all",
		[]engine.Request{mark("b", "gil", 8), mark("a", "hal", 1)},
		"denied never by every",
		[]string{"denied never by every", "allowed by a left 4"},
	},
}

func TestCheckAll(t *testing.T) {
	rules := []rule.Rule{
		marked("a", "fixed_window 5/h"), marked("b", "fixed_window 9/h", "instance: fixed_window 8/h"),
		mode(marked("c", "fixed_window 2/h"), rule.Shadow), perUser("every", "fixed_window 7/h"),
	}
	h := newHands()
	far := &calls{Store: memstore.New(memstore.WithClock(h.Now))}
	for where, s := range map[string]store.Store{"in process": nil, "far": far} {
		e := open(t, compile(t, rules...), s, engine.WithClock(h.Now))
		for _, step := range allSteps {
			each := make([]engine.Decision, len(step.all))
			askAll(t, where+": "+step.name+": peeked", e.PeekAll, step.all, each, step.whole, step.each)
			before := far.n
			askAll(t, where+": "+step.name, e.CheckAll, step.all, each, step.whole, step.each)
			if s != nil && far.n != before+1 {
				t.Errorf("%s: %d calls of the store, want 1", step.name, far.n-before)
			}
		}
	}
}

func askAll(t *testing.T, name string, ask func(context.Context, []engine.Request, []engine.Decision) (engine.Decision, error), all []engine.Request, each []engine.Decision, whole string, want []string) {
	t.Helper()
	d, err := ask(t.Context(), all, each)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := said(d); got != whole {
		t.Errorf("%s: got  %s\nwant %s", name, got, whole)
	}
	for i := range each {
		if got := said(each[i]); got != want[i] {
			t.Errorf("%s: request %d: got  %s\nwant %s", name, i, got, want[i])
		}
	}
}

// TestCheckAllTellsOfShadow: where nothing is enforced, what would be is told.
func TestCheckAllTellsOfShadow(t *testing.T) {
	e := open(t, compile(t, mode(marked("a", "fixed_window 1/h"), rule.Shadow), marked("b", "fixed_window 5/h")), nil, engine.WithClock(newHands().Now))
	all, each := []engine.Request{mark("a", "ann", 1), mark("b", "ann", 1)}, make([]engine.Decision, 2)
	askAll(t, "room", e.CheckAll, all, each, "allowed by b left 4", []string{"allowed by a left 0", "allowed by b left 4"})
	askAll(t, "none", e.CheckAll, all, each, "allowed by b left 3 shadow", []string{"allowed by a left 0 retry 1h0m0s shadow", "allowed by b left 3"})
	e.ShadowAll(true)
	askAll(t, "all in shadow", e.CheckAll, all[1:], each[:1], "allowed", []string{"allowed by b left 2"})
}

// TestCheckAllIsCountedOnce: it is one request, and every rule is counted.
func TestCheckAllIsCountedOnce(t *testing.T) {
	e := open(t, compile(t, marked("a", "fixed_window 1/h"), marked("b", "fixed_window 5/h")), nil)
	all, each := []engine.Request{mark("a", "ann", 1), mark("b", "ann", 2)}, make([]engine.Decision, 2)
	for range 3 {
		if _, err := e.CheckAll(t.Context(), all, each); err != nil {
			t.Fatal(err)
		}
	}
	s := e.Stats()
	if s.Requests != 3 || s.Allowed != 1 || s.Denied != 2 || s.Rules[1].CostAdmitted != 2 || s.Rules[0].Denied != 2 {
		t.Errorf("%+v", s)
	}
}

func TestCheckAllFaults(t *testing.T) {
	e := open(t, compile(t, marked("a", "fixed_window 5/h")), nil)
	if _, err := e.CheckAll(t.Context(), nil, nil); err == nil {
		t.Error("no request is decided")
	}
	each := make([]engine.Decision, 2)
	if _, err := e.CheckAll(t.Context(), []engine.Request{mark("a", "ann", 1), mark("nothing", "bob", -1)}, each); !errors.Is(err, sluice.ErrCost) {
		t.Errorf("a negative cost: %v", err)
	}
}

// TestCheckAllNeverShowsWhatItGivesBack: nobody is refused because of a whole that is
// refused itself.
func TestCheckAllNeverShowsWhatItGivesBack(t *testing.T) {
	e := open(t, compile(t, marked("a", "fixed_window 1000/h"), marked("b", "0/h")), nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			each := make([]engine.Decision, 2)
			for range 500 {
				if d, err := e.CheckAll(t.Context(), []engine.Request{mark("a", "ann", 1000), mark("b", "ann", 1)}, each); err != nil || d.Allowed {
					t.Errorf("%v, %v", d.Allowed, err)
					return
				}
			}
		})
	}
	for range 1000 {
		if !check(t, e, mark("a", "ann", 1)).Allowed {
			t.Fatal("refused by what was never spent")
		}
	}
	all.Wait()
}
