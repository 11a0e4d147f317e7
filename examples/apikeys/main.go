// Apikeys gives every API key its plan: ten requests a second for everybody, a
// hundred for one customer, and no limit for the company's own jobs. A request
// without a key is refused.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

var rules = rule.Config{Rules: []rule.Rule{{
	Name:    "api-key",
	Match:   rule.Match{Paths: []string{"/api/*"}},
	Key:     []string{"header:X-Api-Key"},
	Missing: rule.MissingDeny,
	Limits:  []rule.Limit{{Limit: sluice.PerSecond(10)}},
	Overrides: []rule.Override{
		{Keys: []rule.KeyValues{{"big-customer"}}, Limits: []rule.Limit{{Limit: sluice.PerSecond(100)}}},
	},
	Skip: rule.Skip{Keys: []rule.KeyValues{{"nightly-jobs"}}},
}}}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	set, err := rule.Compile(rules)
	if err != nil {
		return err
	}
	e, err := engine.New(set, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	for _, key := range []string{"some-customer", "big-customer", "nightly-jobs", ""} {
		header := http.Header{}
		if key != "" {
			header.Set("X-Api-Key", key)
		}
		allowed, reason := 0, sluice.Reason(0)
		for range 1000 { // all at once
			d, err := e.Check(context.Background(), engine.Request{Method: "GET", Path: "/api/orders", Header: header})
			if err != nil {
				return err
			}
			if d.Allowed {
				allowed++
			} else {
				reason = d.Reason
			}
		}
		fmt.Fprintf(out, "key %q: %d of 1000 allowed, the others: %q\n", key, allowed, reason)
	}
	return nil
}
