package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// What an engine knows about its traffic: how each rule does, who is busiest, what no
// rule covers, and why somebody was refused.
func ExampleEngine_Stats() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "login",
		Match:  rule.Match{Paths: []string{"/login"}},
		Key:    []string{"user"},
		Limits: []rule.Limit{{Limit: sluice.PerHour(2)}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	for _, path := range []string{"/login", "/login", "/login", "/users/42", "/users/43"} {
		if _, err := e.Check(context.Background(), engine.Request{Method: "POST", Path: path, User: "ann"}); err != nil {
			log.Print(err)
		}
	}

	stats := e.Stats()
	fmt.Println("requests:", stats.Requests, "denied:", stats.Denied, "uncovered:", stats.NoRule)
	for _, r := range stats.Rules {
		fmt.Println("rule", r.Rule, "offered:", r.CostOffered, "admitted:", r.CostAdmitted)
	}
	for _, k := range e.Top(engine.ByRequests, 10) {
		fmt.Println("busy:", k.Rule, k.Key, k.Count)
	}
	for _, r := range e.Uncovered(10) {
		fmt.Println("no rule for:", r.Method, r.Path, r.Count)
	}
	for _, r := range e.Recent(10) {
		fmt.Println("refused:", r.Method, r.Path, "of", r.Key, "by", r.Rule, "since", r.Reason)
	}
	// Output:
	// requests: 5 denied: 1 uncovered: 2
	// rule login offered: 3 admitted: 2
	// busy: login ann 3
	// no rule for: POST /users/{id} 2
	// refused: POST /login of ann by login since limited
}
