package engine_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestWatchHasTheEnginesClock: records and windows of what the engine knows about itself
// go by the same time as its limits.
func TestWatchHasTheEnginesClock(t *testing.T) {
	clock := newHands()
	for name, c := range map[string]struct {
		given store.Store
		opts  []engine.Option
	}{
		"WithClock":        {nil, []engine.Option{engine.WithClock(clock.Now)}},
		"of the memstore":  {memstore.New(memstore.WithClock(clock.Now)), nil},
		"of another store": {broken{errDown}, []engine.Option{engine.WithClock(clock.Now)}},
	} {
		clock.move(time.Hour)
		e := open(t, compile(t, perUser("a", "0/s")), c.given, c.opts...)
		check(t, e, from("ann"))
		if got := e.Recent(1); len(got) != 1 || !got[0].Time.Equal(clock.Now()) {
			t.Errorf("%s: %+v, now is %v", name, got, clock.Now())
		}
		clock.move(time.Minute)
		if got := e.Top(engine.ByDenials, 1); len(got) != 1 {
			t.Errorf("%s: a minute later the top is %v", name, got)
		}
		clock.move(2 * time.Minute)
		if got := e.Top(engine.ByDenials, 1); len(got) != 0 {
			t.Errorf("%s: three minutes later the top is %v", name, got)
		}
	}
}

// TestCalendarsKeepRoutes: a calendar that is laid out anew, which happens at some
// midnight, is no change of rules.
func TestCalendarsKeepRoutes(t *testing.T) {
	clock := newHands()
	daily := perUser("a", "10/d zone=UTC")
	daily.Match.Paths = []string{"/paid"}
	e := open(t, compile(t, daily), nil, engine.WithClock(clock.Now))
	before := e.Set()
	clock.move(time.Minute)
	for days := 0; e.Set() == before; days++ {
		if days > 100 {
			t.Fatal("the calendar was never laid out anew")
		}
		clock.move(24*time.Hour - 2*time.Minute)
		for range 3 {
			check(t, e, from("ann"))
		}
		clock.move(2 * time.Minute)
		check(t, e, from("ann"))
	}
	if got := e.Uncovered(1); len(got) != 1 || got[0].Count != 4 {
		t.Errorf("uncovered %v, want 4", got)
	}
	if err := e.Swap(compile(t, mode(daily, rule.Shadow))); err != nil {
		t.Fatal(err)
	}
	if got := e.Uncovered(1); len(got) != 0 {
		t.Errorf("after a change of rules: %v", got)
	}
}
