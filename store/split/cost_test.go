package split_test

import (
	"context"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestForgotten: thousands of limits that came and went leave nothing behind, and
// those in use go on.
func TestForgotten(t *testing.T) {
	w := newWorld(t, 2)
	spec := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 9, Period: second})
	for i := range 25_000 {
		other := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 9, Period: 1000, Ordinal: int64(i)})
		w.take(0, store.Spend, store.Check{Key: "ann", Spec: other})
	}
	if got := w.drain(spec); got != 9 {
		t.Errorf("%d admitted, want 9", got)
	}
}

func TestAllocs(t *testing.T) {
	w := newWorld(t, 3)
	specs := []*algo.Spec{
		compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: second, Burst: 1e6}),
		compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 1e6 + 1, Period: second}),
	}
	for _, spec := range specs {
		checks := []store.Check{{Key: "ann", Spec: spec, Cost: 1}}
		ctx := context.Background()
		if n := testing.AllocsPerRun(100, func() {
			if err := w.stores[0].Take(ctx, store.Spend, checks); err != nil || !checks[0].Verdict.Allowed {
				t.Error(err, checks[0].Verdict)
			}
		}); n != 0 {
			t.Errorf("kind %d: %v allocations", spec.Kind, n)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	s := split.New(memstore.New(), split.Fixed{Rank: 1, Live: 3})
	for name, def := range map[string]algo.Spec{
		"bucket": {Kind: algo.TokenBucket, Count: 1e9, Period: second, Burst: 1e9},
		"window": {Kind: algo.FixedWindow, Count: 1e15 - 1, Period: second},
	} {
		b.Run(name, func(b *testing.B) {
			checks := []store.Check{{Key: "ann", Spec: compile(b, def), Cost: 1}}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Take(context.Background(), store.Spend, checks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
