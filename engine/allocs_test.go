package engine_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// counter is an observer that costs nothing.
type counter struct{ n int }

func (c *counter) Observe(e *engine.Event) { c.n += len(e.Outcomes) }

// TestNoAllocations: a decision takes no memory, whatever it says and whoever is told.
func TestNoAllocations(t *testing.T) {
	many, r := crowd(t, 1000)
	for _, c := range []struct {
		name    string
		set     *rule.Set
		r       engine.Request
		allowed bool
	}{
		{"many rules", many, r, true},
		{"denied", compile(t, perUser("a", "0/s"), perUser("b", "1/h"), perUser("c", "sliding_log 1/h")), from("ann"), false},
		{"several limits", compile(t, perUser("a", "1000000/s", "fixed_window 1000000000/h", "sliding_window 1000000/s")), from("ann"), true},
		{"several scopes", compile(t, perUser("a", "1000000/s", "instance: 1000000/s")), from("ann"), true},
		{"given back", compile(t, perUser("a", "0/s", "instance: 1000000/s")), from("ann"), false},
		{"shadow", compile(t, mode(perUser("a", "1/h"), rule.Shadow), withCandidate(perUser("b", "1000000/s"), "1/h")), from("ann"), true},
		{"calendar", compileNow(t, perUser("a", "1000000/mo zone=Europe/Berlin")), from("ann"), true},
		{"may wait", compile(t, waits(perUser("a", "1000000/s", "fixed_window 1000000000/h"), time.Second)), from("ann"), true},
		{"no rule", compile(t), from("ann"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := &counter{}
			e := open(t, c.set, nil, engine.WithObserver(seen), engine.WithObserver(seen))
			bad, all, each := 0, []engine.Request{c.r, c.r}, make([]engine.Decision, 2)
			for name, f := range map[string]func() (engine.Decision, error){
				"Check": func() (engine.Decision, error) { return e.Check(t.Context(), c.r) },
				"Wait":  func() (engine.Decision, error) { return e.Wait(t.Context(), c.r) },
				"Peek":  func() (engine.Decision, error) { return e.Peek(t.Context(), c.r) },
				"All":   func() (engine.Decision, error) { return e.CheckAll(t.Context(), all, each) },
			} {
				got := testing.AllocsPerRun(500, func() {
					if d, err := f(); err != nil || d.Allowed != c.allowed {
						bad++
					}
				})
				if got > allocations || bad > 0 {
					t.Errorf("%s: %v allocations, %d wrong answers", name, got, bad)
				}
			}
		})
	}
}

// compileNow is compile for the present: calendars need no new layout then.
func compileNow(t *testing.T, rules ...rule.Rule) *rule.Set {
	t.Helper()
	set, err := rule.Compile(rule.Config{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
