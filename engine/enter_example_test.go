package engine_test

import (
	"context"
	"fmt"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

func ExampleEngine_Enter() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "reports",
		Key:    []string{"ip"},
		Limits: []rule.Limit{{Limit: rule.Concurrency(1)}},
	}}})
	if err != nil {
		panic(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	ctx, request := context.Background(), from("ann")

	entry, err := e.Enter(ctx, request)
	if err != nil {
		panic(err)
	}
	defer entry.Leave() // on every path: who is denied holds nothing
	fmt.Println(entry.Allowed)

	second, err := e.Enter(ctx, request)
	if err != nil {
		panic(err)
	}
	fmt.Println(second.Allowed, second.Reason, second.Limit())

	entry.Leave()                   // more often does no harm
	d, err := e.Check(ctx, request) // only looks
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Allowed)
	// Output:
	// true
	// false limited concurrency 1
	// true
}
