package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestSwap: budgets of rules that stay are kept, and changed limits go on from there.
func TestSwap(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"unchanged", "10/h", "10/h", "left 6"},
		{"bucket, smaller", "10/h", "5/h", "left 2"}, // 3 of 10 are 18 minutes: 1.5 of 5
		{"bucket, larger", "10/h", "20/h", "left 13"},
		{"window, smaller", "fixed_window 10/h", "fixed_window 4/h", "left 0"},
		{"window, too small", "fixed_window 10/h", "fixed_window 2/h", "denied limited by a left 0 retry 1h0m0s"},
		{"window, larger", "fixed_window 10/h", "fixed_window 100/h", "left 96"},
		{"log, smaller", "sliding_log 10/h", "sliding_log 4/h", "left 0"},
		{"another period is fresh", "fixed_window 10/h", "fixed_window 10/d", "left 9"},
		{"another algorithm is fresh", "10/h", "sliding_log 10/h", "left 9"},
		{"another scope is fresh", "10/h", "instance: 10/h", "left 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, compile(t, perUser("a", c.before)), nil, engine.WithClock(newHands().Now))
			for range 3 {
				check(t, e, from("ann"))
			}
			next := compile(t, perUser("new", "1000/h"), perUser("a", c.after))
			if err := e.Swap(next); err != nil || e.Set() != next {
				t.Fatal(err)
			}
			if got := said(check(t, e, from("ann"))); !strings.HasSuffix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if stats := e.Stats().Rules; len(stats) != 2 || stats[0].Requests != 1 || stats[1].Requests != 4 {
				t.Errorf("counted %+v", stats)
			}
			if err := e.Swap(nil); err == nil || e.Set() != next {
				t.Errorf("no set: %v", err)
			}
		})
	}
}

// halves counts the events that saw rules of two sets.
type halves struct{ seen, mixed atomic.Int64 }

func (h *halves) Observe(e *engine.Event) {
	h.seen.Add(1)
	for _, o := range e.Outcomes[1:] {
		if o.Rule.Name[:1] != e.Outcomes[0].Rule.Name[:1] {
			h.mixed.Add(1)
		}
	}
	if len(e.Outcomes) != 5 {
		h.mixed.Add(1)
	}
}

// TestSwapUnderLoad: 1,000 swaps between two sets, and no request sees half of one.
func TestSwapUnderLoad(t *testing.T) {
	var sets [2]*rule.Set
	for i, name := range []string{"a", "b"} {
		var rules []rule.Rule
		for n := range 5 {
			rules = append(rules, withCandidate(perUser(fmt.Sprint(name, n), "1000000/s", "fixed_window 1000000000/s"), "10/s"))
		}
		sets[i] = compile(t, rules...)
	}
	h := &halves{}
	e := open(t, sets[0], nil, engine.WithObserver(h))
	stop := make(chan struct{})
	var load sync.WaitGroup
	for n := range 4 {
		load.Go(func() {
			r := from(fmt.Sprint("user", n))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if d, err := e.Check(t.Context(), r); err != nil || !d.Allowed {
					t.Errorf("%s, %v", said(d), err)
					return
				}
				if _, err := e.Explain(t.Context(), r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 1000 {
		if err := e.Swap(sets[i%2]); err != nil {
			t.Fatal(err)
		}
		for seen := h.seen.Load(); h.seen.Load() == seen && i%10 == 0; { // requests come in between
			time.Sleep(time.Microsecond)
		}
	}
	close(stop)
	load.Wait()
	if h.seen.Load() < 100 || h.mixed.Load() > 0 {
		t.Errorf("%d of %d requests saw half a set", h.mixed.Load(), h.seen.Load())
	}
}

// TestCalendar: windows of the calendar go on for ever, and laying them out anew never
// undoes a Swap.
func TestCalendar(t *testing.T) {
	clock := newHands()
	set := compile(t, perUser("a", "2/d zone=Europe/Berlin"))
	e := open(t, set, nil, engine.WithClock(clock.Now))
	for day := range 400 {
		expect(t, check(t, e, from("ann")), "allowed by a left 1")
		expect(t, check(t, e, from("ann")), "allowed by a left 0")
		if d := check(t, e, from("ann")); d.Allowed || d.RetryAfter() > 25*time.Hour {
			t.Fatalf("day %d: %s", day, said(d))
		}
		clock.move(24 * time.Hour)
	}
	if e.Set() == set {
		t.Error("the calendar was never laid out anew")
	}
}

// TestCalendarKeepsSwap: calendars that are laid out anew never undo a Swap that came
// in between.
func TestCalendarKeepsSwap(t *testing.T) {
	clock := newHands()
	next := compile(t, perUser("b", "2/h"))
	var e *engine.Engine
	var swap bool
	e = open(t, compile(t, perUser("a", "2/d zone=Europe/Berlin")), nil, engine.WithClock(func() time.Time {
		if swap { // the engine has looked at its rules, and asks for the time
			swap = false
			if err := e.Swap(next); err != nil {
				t.Error(err)
			}
		}
		return clock.Now()
	}))
	check(t, e, from("ann"))
	clock.move(300 * 24 * time.Hour)
	swap = true
	expect(t, check(t, e, from("ann")), "allowed by b left 1")
	if e.Set() != next {
		t.Error("the swap was undone")
	}
}
