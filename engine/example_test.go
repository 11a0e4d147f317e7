package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// loginRules let everybody try to log in twice a minute, and all else ten times.
func loginRules() *rule.Set {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{
			Name: "login", Match: rule.Match{Paths: []string{"/login"}}, Key: []string{"user"},
			Limits: []rule.Limit{{Limit: sluice.PerMinute(2)}},
		},
		{
			Name: "all", Key: []string{"user"},
			Limits: []rule.Limit{{Limit: sluice.PerMinute(10)}},
		},
	}})
	if err != nil {
		panic(err)
	}
	return set
}

func ExampleNew() {
	e, err := engine.New(loginRules(), nil) // nil: budgets are kept in this process
	if err != nil {
		panic(err)
	}
	defer e.Close()
	fmt.Println(len(e.Set().Rules()), "rules")
	// Output: 2 rules
}

func ExampleEngine_Check() {
	e, err := engine.New(loginRules(), nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	for range 3 {
		d, err := e.Check(context.Background(), engine.Request{Method: "POST", Path: "/login", User: "ann"})
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Allowed, d.Reason, d.Rule.Name, d.Limit())
	}
	// Output:
	// true  login 2/m
	// true  login 2/m
	// false limited login 2/m
}

func ExampleEngine_Explain() {
	e, err := engine.New(loginRules(), nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	x, err := e.Explain(context.Background(), engine.Request{Method: "GET", Path: "/a/../b", User: "ann"})
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Path, "allowed:", x.Decision.Allowed)
	for _, r := range x.Rules {
		fmt.Println(r.Rule, "matches:", r.Matches)
		for _, l := range r.Limits {
			fmt.Println(" ", l.Limit, "left:", l.Remaining)
		}
	}
	// Output:
	// /b allowed: true
	// login matches: false
	// all matches: true
	//   10/m left: 9
}

func ExampleEngine_Reserve() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{Name: "tokens", Key: []string{"user"}, Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 1000/d")}}},
	}})
	if err != nil {
		panic(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	ctx := context.Background()
	r, err := e.Reserve(ctx, engine.Request{User: "ann", Cost: 300}) // at most so many
	if err != nil {
		panic(err)
	}
	fmt.Println(r.OK(), r.Remaining())
	if err := r.Commit(ctx, 120); err != nil { // it took less
		panic(err)
	}
	d, err := e.Peek(ctx, engine.Request{User: "ann"})
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Remaining())
	// Output:
	// true 700
	// 879
}

// A model that answers with what it really took: who asks too fast is held for up to
// two seconds, and the estimate of 100 is settled afterwards.
func ExampleEngine_WaitReserve() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name: "tokens", Key: []string{"user"}, Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 1000/d")}},
		Cost: rule.Cost{Fixed: 100, Response: "X-Tokens"}, Wait: rule.Duration(2 * time.Second),
	}}})
	if err != nil {
		panic(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	res, err := e.WaitReserve(context.Background(), engine.Request{Path: "/ask", User: "ann"})
	if err != nil || !res.OK() {
		fmt.Println("not now:", err)
		return
	}
	fmt.Println("reserved, left:", res.Remaining())
	if err := res.Commit(context.Background(), 40); err != nil {
		panic(err)
	}
	d, err := e.Peek(context.Background(), engine.Request{Path: "/ask", User: "ann", Cost: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println("settled, left after one more:", d.Remaining())
	// Output:
	// reserved, left: 900
	// settled, left after one more: 959
}
