package engine

import (
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
)

// watchedRules makes rules with these names, as a set would number them.
func watchedRules(names ...string) []*rule.Compiled {
	rules := make([]*rule.Compiled, len(names))
	for i, name := range names {
		rules[i] = &rule.Compiled{Rule: rule.Rule{Name: name, Key: []string{"user"}}, Index: i}
	}
	return rules
}

// watchAt returns a watch whose time is what the pointer says.
func watchAt(rules []*rule.Compiled) (*watch, *time.Time) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return newWatch(rules, clock.Func(func() time.Time { return now })), &now
}

// said makes what a rule said of a request of cost 1.
func said(r *rule.Compiled, key string, allowed bool) Outcome {
	return Outcome{Rule: r, Key: r.Name + "|" + key, Cost: 1, Enforced: true, Allowed: allowed, Spent: allowed}
}

// happened makes the event of a request to which the rules said this.
func happened(outcomes ...Outcome) *Event {
	e := &Event{Request: &Request{Method: "GET", Path: "/a"}, Path: "/a", Outcomes: outcomes}
	e.Decision.Allowed = true
	for i := range outcomes {
		switch o := &outcomes[i]; {
		case o.Allowed:
		case o.Enforced:
			e.Decision = Decision{Decision: sluice.Decision{Reason: sluice.Limited}, Rule: o.Rule, LimitName: "burst"}
			return e
		default:
			e.Decision.Shadow = true
		}
	}
	return e
}

// TestWatchConcurrentSafe: no request is lost or counted twice, whoever observes,
// reads and swaps rules at the same time.
func TestWatchConcurrentSafe(t *testing.T) {
	const observers, each = 8, 3000
	rules := watchedRules("a", "b", "c")
	w, _ := watchAt(rules)
	var observing, others sync.WaitGroup
	for i := range observers {
		observing.Go(func() {
			allowed := happened(said(rules[0], fmt.Sprint(i), true), said(rules[2], "x", true))
			denied := happened(said(rules[0], fmt.Sprint(i), true), said(rules[2], "x", false))
			for range each {
				w.observe(allowed)
				w.observe(denied)
			}
		})
	}
	done := make(chan struct{})
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if w.swapRules(watchedRules("c", "a")); i%2 == 0 {
				w.swapRules(rules)
			}
			if s := w.stats(); s.Requests != s.Allowed+s.Denied {
				t.Errorf("half a request was counted: %+v", s)
			}
			w.top(ByRequests, 3)
			w.recent(5)
			w.uncovered(5)
		}
	})
	observing.Wait()
	close(done)
	others.Wait()
	w.swapRules(rules)
	s := w.stats()
	n := int64(observers * each)
	if s.Requests != 2*n || s.Allowed != n || s.Denied != n {
		t.Errorf("totals are %+v, want %d of each", s, n)
	}
	if a, c := s.Rules[0], s.Rules[2]; a.Requests != 2*n || c.Requests != 2*n || c.Denied != n {
		t.Errorf("rules are %+v, want %d requests of a and c", s.Rules, 2*n)
	}
}

// TestStripesDoNotShareLines: callers on different processors do not slow each other
// down by writing to the same cache line.
func TestStripesDoNotShareLines(t *testing.T) {
	if size := unsafe.Sizeof(stripe{}); size%64 != 0 {
		t.Errorf("a stripe has %d bytes", size)
	}
}

// TestObserveTakesNoMemory: whatever happened, and also for keys never seen before.
func TestObserveTakesNoMemory(t *testing.T) {
	rules := watchedRules("a", "b", "c")
	w, _ := watchAt(rules)
	shadow := said(rules[1], "ann", false)
	shadow.Enforced = false
	nobody := happened()
	for name, e := range map[string]*Event{
		"allowed": happened(said(rules[0], "ann", true), said(rules[1], "ann", true), said(rules[2], "ann", true)),
		"denied":  happened(said(rules[0], "ann", true), said(rules[1], "ann", false)),
		"shadow":  happened(said(rules[0], "ann", true), shadow),
		"no rule": nobody,
	} {
		w.observe(e)
		if n := testing.AllocsPerRun(1000, func() { w.observe(e) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	keys := make([]string, 1001)
	for i := range keys {
		keys[i] = fmt.Sprint("a|user-", i)
	}
	e := happened(said(rules[0], "", false))
	i := 0
	if n := testing.AllocsPerRun(len(keys)-1, func() {
		e.Outcomes[0].Key = keys[i]
		i++
		w.observe(e)
	}); n > 0 {
		t.Errorf("new keys: %v allocations", n)
	}
}

// BenchmarkObserve is what a Check pays: 30 ns are the bar for an allowed request that
// three rules match.
func BenchmarkObserve(b *testing.B) {
	rules := watchedRules("a", "b", "c")
	for name, e := range map[string]*Event{
		"allowed": happened(said(rules[0], "ann", true), said(rules[1], "10.1.2.3", true), said(rules[2], "ann|/login", true)),
		"denied":  happened(said(rules[0], "ann", true), said(rules[1], "10.1.2.3", false), said(rules[2], "ann|/login", true)),
		"no rule": happened(),
	} {
		b.Run(name, func(b *testing.B) {
			w := newWatch(rules, clock.System())
			b.ReportAllocs()
			for b.Loop() {
				w.observe(e)
			}
		})
	}
}

func BenchmarkObserveParallel(b *testing.B) {
	rules := watchedRules("a", "b", "c")
	w := newWatch(rules, clock.System())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		e := happened(said(rules[0], "ann", true), said(rules[1], "10.1.2.3", true), said(rules[2], "ann|/login", true))
		for pb.Next() {
			w.observe(e)
		}
	})
}
