package rulefile_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
)

func Example() {
	rules, err := rulefile.Load("testdata/good/login.yaml")
	if err != nil {
		log.Fatal(err) // every problem with its line and what to do
	}
	e, err := engine.New(rules.Set, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	d, err := e.Check(context.Background(), engine.Request{Method: "POST", Path: "/login", User: "ann"})
	fmt.Println(d.Allowed, d.Remaining(), err)
	// Output: true 4 <nil>
}

func ExampleParse_problems() {
	_, err := rulefile.Parse("rules.yaml", []byte("rules:\n  - name: login\n    limit: [5/m]\n"))
	fmt.Println(err)
	// Output:
	// rules.yaml:3:5: unknown field "limit"
	//     3 |     limit: [5/m]
	//       |     ^
	//   hint: did you mean "limits"?
}

func ExampleRunTests() {
	rules, err := rulefile.Load("testdata/good/login.yaml")
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range rulefile.RunTests(rules) {
		fmt.Println(result)
	}
	// Output:
	// ok    five at once, then one every twelve seconds (testdata/good/login.yaml:14, 8 requests)
	// ok    reading the form is free (testdata/good/login.yaml:20, 100 requests)
}

func ExampleWatch() {
	ctx, cancel := context.WithCancel(context.Background())
	rules, err := rulefile.Load("testdata/good/login.yaml")
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(rules.Set, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	cancel() // of a program that ends; others do that later
	err = rulefile.Watch(ctx, "testdata/good/login.yaml", func(changed *rulefile.Result, err error) {
		if err == nil {
			err = e.Swap(changed.Set)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // the rules before go on
		}
	}, rulefile.Since(rules))
	fmt.Println(err)
	// Output: context canceled
}
