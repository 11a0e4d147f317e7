package rls_test

import (
	"context"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/rls"
)

const usage = `
domain: d
descriptors:
  - {key: user, rate_limit: {unit: hour, requests_per_unit: 100}}
  - {key: team, rate_limit: {unit: hour, requests_per_unit: 1000}}
`

// TestLateCosts: requests look at a budget, and tell afterwards what they took. When that
// is more than is left, the budget is used up.
func TestLateCosts(t *testing.T) {
	for _, late := range []bool{true, false} {
		w := newWorld(t, usage, rls.Options{LateCosts: late})
		passed := 0
		for range 10 {
			if w.ask(hits(0, d("user=ann")), hits(0, d("team=x"))).GetOverallCode() == 1 {
				passed++
				w.ask(hits(60, d("user=ann")), hits(60, d("team=x")))
			}
		}
		if want := map[bool]int{true: 2, false: 10}[late]; passed != want {
			t.Errorf("late costs %v: %d requests of 60 passed a budget of 100, want %d", late, passed, want)
		}
		left := map[bool]int64{true: 880, false: 940}[late] // every budget takes what was used
		w.want(w.ask(hits(0, d("team=x"))), true, left)
	}
}

func TestLateCostsAreTold(t *testing.T) {
	w := newWorld(t, usage, rls.Options{LateCosts: true})
	r := w.ask(hits(130, d("user=ann")), hits(130, d("team=x")))
	w.want(r, false, 0, 870)
	if a, b := r.GetStatuses()[0].GetCode(), r.GetStatuses()[1].GetCode(); a != 2 || b != 1 {
		t.Errorf("codes %v and %v", a, b)
	}
	w.want(w.ask(hits(130, d("user=bob")), hits(20, d("user=bob"))), false, 0, 0) // the same budget twice
	w.want(w.ask(hits(0, d("user=bob"))), false, 0)
	w.want(w.ask(d("user=cid"), hits(500, d("user=dan"))), false, 100, 100) // not all bring their own
	w.want(w.ask(hits(500, override(50, 3, 0, d("user=eve"))), hits(500, d("user=eve"))), false, 0, 0)
	w.want(w.ask(hits(0, override(50, 3, 0, d("user=eve"))), hits(0, d("user=eve"))), false, 0, 0)
}

// TestLateCostsTwice: a limit of the request itself that stands in a call twice is used up
// all the same.
func TestLateCostsTwice(t *testing.T) {
	w := newWorld(t, basic, rls.Options{LateCosts: true})
	w.want(w.ask(hits(500, override(50, 3, 0, d("user=eve"))), hits(500, override(50, 3, 0, d("user=eve")))), false, 0, 0)
	w.want(w.ask(hits(0, override(50, 3, 0, d("user=eve")))), false, 0)
}

func TestLateCostsOfOwnRules(t *testing.T) {
	w := newWorld(t, "", rls.Options{LateCosts: true}, rule.Rule{
		Name: "tokens", Key: []string{"attribute:user"},
		Limits: []rule.Limit{{Name: "hour", Limit: sluice.MustParse("fixed_window 100/h")}, {Name: "day", Limit: sluice.MustParse("fixed_window 150/d zone=UTC")}},
	})
	ask := func(n uint64) bool {
		r, err := w.client.ShouldRateLimit(context.Background(), request("own", hits(n, d("user=ann"))))
		if err != nil {
			t.Fatal(err)
		}
		return r.GetOverallCode() == 1
	}
	if !ask(60) || ask(60) || ask(0) {
		t.Error("60 and 60 of 100 have to be one that passes and one that uses it up")
	}
}
