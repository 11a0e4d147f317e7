package httplimit

import (
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestPoliciesAreBounded: sets of rules that come and go leave nothing behind.
func TestPoliciesAreBounded(t *testing.T) {
	config := rule.Config{Rules: []rule.Rule{{Name: "all", Limits: []rule.Limit{{Limit: sluice.PerSecond(10)}}}}}
	compile := func() *rule.Set {
		set, err := rule.Compile(config)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	e, err := engine.New(compile(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	p := policies{engine: e, dialect: rule.HeadersDraft10}
	for range 500 {
		d, err := e.Peek(t.Context(), rule.Request{Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if _, l := p.find(&d); l == nil || l.name != "all" {
			t.Fatalf("found %+v", l)
		}
		if err := e.Swap(compile()); err != nil {
			t.Fatal(err)
		}
	}
	size := 0
	count := func(any, any) bool { size++; return true }
	p.plans.Range(count)
	p.rules.Range(count)
	if size > 200 {
		t.Errorf("%d plans and rules are remembered", size)
	}
}
