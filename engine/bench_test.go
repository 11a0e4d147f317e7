package engine_test

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// crowd makes n rules of which a request for path 7 matches three.
func crowd(t testing.TB, n int) (*rule.Set, engine.Request) {
	rules := []rule.Rule{
		perUser("user", "1000000000/s"),
		{Name: "address", Key: []string{"ip"}, Match: rule.Match{Paths: []string{"/api/*"}}, Limits: limits("1000000000/s")},
	}
	for i := range n - len(rules) {
		r := perUser(fmt.Sprint("r", i), "1000000000/s")
		r.Match.Paths = []string{fmt.Sprintf("/api/v1/things%d/{id}", i)}
		rules = append(rules, r)
	}
	r := from("ann")
	r.Path = "/api/v1/things7/42"
	return compile(t, rules...), r
}

// BenchmarkObserver is BenchmarkCheck of 1,000 rules with somebody who is told.
func BenchmarkObserver(b *testing.B) {
	set, r := crowd(b, 1000)
	e := open(b, set, nil, engine.WithObserver(&counter{}))
	b.ReportAllocs()
	for b.Loop() {
		if d, err := e.Check(b.Context(), r); err != nil || !d.Allowed {
			b.Fatal(d, err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			set, r := crowd(b, n)
			e := open(b, set, nil)
			b.ReportAllocs()
			for b.Loop() {
				if d, err := e.Check(b.Context(), r); err != nil || !d.Allowed {
					b.Fatal(d, err)
				}
			}
		})
	}
}
