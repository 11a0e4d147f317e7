package split_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestShadow: a shadow is one of this instance's share too.
func TestShadow(t *testing.T) {
	compile := func(count, ordinal int64) *algo.Spec {
		p, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: count, Ordinal: ordinal})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	many, few := compile(40, 0), compile(8, 1)
	s := split.New(memstore.New(), split.Fixed{Rank: 1, Live: 4})
	for i := range 12 {
		checks := []store.Check{{Key: "k", Spec: many, Cost: 1}, {Key: "k", Spec: few, Cost: 1, Shadow: true}}
		if err := s.Take(t.Context(), store.Spend, checks); err != nil {
			t.Fatal(err)
		}
		if checks[0].Verdict.Allowed != (i < 10) || checks[1].Verdict.Allowed != (i < 2) {
			t.Errorf("request %d: allowed %v, its shadow %v", i, checks[0].Verdict.Allowed, checks[1].Verdict.Allowed)
		}
	}
}
