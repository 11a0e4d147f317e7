package lease_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// counted is a store that counts the calls to it.
type counted struct {
	store.Store
	calls atomic.Int64
}

func (c *counted) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	c.calls.Add(1)
	return c.Store.Take(ctx, op, checks)
}

// nothing is a store that denies everything at once, as one does that remembers
// its denials.
type nothing struct{ v algo.Verdict }

func (n nothing) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	for i := range checks {
		checks[i].Verdict, checks[i].Granted = n.v, 0
	}
	return nil
}

// BenchmarkDenied is what a lease adds to a key that is denied all the time.
func BenchmarkDenied(b *testing.B) {
	spec := compile(b, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 100})
	s, err := lease.New(nothing{spec.Blind(false, 10_000)})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.Cleanup(func() { _ = s.Close(ctx) })
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		checks := make([]store.Check, 1)
		for pb.Next() {
			checks[0] = store.Check{Key: "everybody", Spec: spec, Cost: 1}
			if err := s.Take(ctx, store.Spend, checks); err != nil || checks[0].Verdict.Allowed {
				b.Fatal("allowed", err)
			}
		}
	})
}

// BenchmarkHotKey is one key that all goroutines ask, with a limit that is never
// reached.
func BenchmarkHotKey(b *testing.B) {
	spec := compile(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e9, Period: 1e6, Burst: 1e9})
	inner := &counted{Store: algotest.NewModel(time.Now)}
	s, err := lease.New(inner)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.Cleanup(func() { _ = s.Close(ctx) })
	var denied atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		checks := make([]store.Check, 1)
		for pb.Next() {
			checks[0] = store.Check{Key: "everybody", Spec: spec, Cost: 1}
			if err := s.Take(ctx, store.Spend, checks); err != nil {
				b.Fatal(err)
			}
			if !checks[0].Verdict.Allowed {
				denied.Add(1)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
	b.ReportMetric(float64(inner.calls.Load())/b.Elapsed().Seconds(), "calls/s")
	if denied.Load() > 0 {
		b.Errorf("%d denied", denied.Load())
	}
}
