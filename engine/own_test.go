package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// agreeable is a store that allows everything at once.
type agreeable struct{}

func (agreeable) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	for i := range checks {
		checks[i].Verdict = algo.Verdict{Allowed: true, X: 1000, Y: 1}
	}
	return nil
}

// BenchmarkOwn is the engine's own share of a Check that three rules match: without the
// work of the store, and beside it the matching alone, which is in the first number.
func BenchmarkOwn(b *testing.B) {
	var config rule.Config
	for i := range 3 {
		config.Rules = append(config.Rules, rule.Rule{
			Name: fmt.Sprint("r", i), Key: []string{"user"}, Limits: []rule.Limit{{Limit: sluice.PerSecond(1e9)}},
		})
	}
	set, err := rule.Compile(config)
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(set, nil)
	if err != nil {
		b.Fatal(err)
	}
	e.places.own[cluster] = agreeable{}
	r := Request{Method: "GET", Path: "/", User: "ann"}
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if d, err := e.Check(b.Context(), r); err != nil || !d.Allowed {
				b.Fatal(d, err)
			}
		}
	})
	b.Run("match", func(b *testing.B) {
		var m rule.Matches
		for b.Loop() {
			set.Match(&r, &m)
		}
	})
	b.Run("watch", func(b *testing.B) {
		w := newWatch(set.Rules(), clock.System())
		c := e.begin(&r)
		c.match(e)
		e.decide(b.Context(), c, &terms{op: store.Spend, within: forever})
		for b.Loop() {
			w.observe(&c.event)
		}
	})
}
