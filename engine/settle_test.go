package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// responding is a rule whose cost the response tells.
func responding(r rule.Rule) rule.Rule {
	r.Cost.Response = "X-Cost"
	return r
}

// spent returns what every rule has spent of its hundred.
func spent(t *testing.T, e *engine.Engine) string {
	t.Helper()
	x, err := e.Explain(t.Context(), from("ann"))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, r := range x.Rules {
		for _, l := range r.Limits {
			text += fmt.Sprintf("%s %d ", r.Rule, 99-l.Remaining)
		}
	}
	return text
}

// TestSettlesEstimates: the cost of the response is that of the rules that ask for it;
// others keep what they spent. Without any such rule, all are settled.
func TestSettlesEstimates(t *testing.T) {
	a, b, c := perUser("a", "fixed_window 100/h"), perUser("b", "fixed_window 100/h", "instance: fixed_window 100/h"), mode(perUser("c", "fixed_window 100/h"), rule.Shadow)
	for _, test := range []struct {
		name                          string
		rules                         []rule.Rule
		reserved, committed, canceled string
	}{
		{"none asks", []rule.Rule{a, b}, "a 5 b 5 b 5 ", "a 40 b 40 b 40 ", "a 0 b 0 b 0 "},
		{"one asks", []rule.Rule{a, responding(b)}, "a 5 b 5 b 5 ", "a 5 b 40 b 40 ", "a 0 b 0 b 0 "},
		{"one in shadow asks", []rule.Rule{a, b, responding(c)}, "a 5 b 5 b 5 c 5 ", "a 5 b 5 b 5 c 40 ", "a 0 b 0 b 0 c 0 "},
		{"all ask", []rule.Rule{responding(a), responding(b)}, "a 5 b 5 b 5 ", "a 40 b 40 b 40 ", "a 0 b 0 b 0 "},
	} {
		for how, settle := range map[string]func(e *engine.Engine, r *engine.Reservation) error{
			"commit": func(_ *engine.Engine, r *engine.Reservation) error { return r.Commit(t.Context(), 40) },
			"by ID": func(e *engine.Engine, r *engine.Reservation) error {
				return e.Commit(t.Context(), from("ann"), r.ID, 40)
			},
			"cancel": func(_ *engine.Engine, r *engine.Reservation) error { r.Cancel(); return nil },
		} {
			t.Run(test.name+", "+how, func(t *testing.T) {
				e := open(t, compile(t, test.rules...), nil, engine.WithClock(newHands().Now))
				res, want := reserve(t, e, "ann", 5), test.committed
				if how == "cancel" {
					want = test.canceled
				}
				if got := spent(t, e); got != test.reserved {
					t.Errorf("reserved: spent %s, want %s", got, test.reserved)
				}
				if err := settle(e, res); err != nil || spent(t, e) != want {
					t.Errorf("error %v, spent %s, want %s", err, spent(t, e), want)
				}
				if err := res.Commit(t.Context(), 1); !errors.Is(err, sluice.ErrSettled) || spent(t, e) != want {
					t.Errorf("again: error %v, spent %s", err, spent(t, e))
				}
			})
		}
	}
}

// TestSettleAgain: a Commit after a Cancel that did not reach the store settles as if
// that had never been.
func TestSettleAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works := memstore.New()
		shared := &noted{back: works}
		e, err := engine.New(compile(t, perUser("a", "fixed_window 100/h"), responding(perUser("b", "fixed_window 100/h"))), shared)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		res := reserve(t, e, "ann", 5)
		shared.set(nil)
		res.Cancel()
		shared.set(works)
		if err := res.Commit(t.Context(), 40); err != nil || spent(t, e) != "a 5 b 40 " {
			t.Errorf("error %v, spent %s", err, spent(t, e))
		}
	})
}
