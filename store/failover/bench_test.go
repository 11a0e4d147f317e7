package failover_test

import (
	"context"
	"testing"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// instant is a store that costs nothing, to see what failover adds.
type instant struct{}

func (instant) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	checks[0].Verdict.Allowed = true
	return nil
}

// looking is one that looks at its context, as a remote store does.
type looking struct{}

func (looking) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
		return instant{}.Take(ctx, op, checks)
	}
}

// glancing is one that asks until when it may take, and lets its connection see to
// the rest, as a client with one caller does.
type glancing struct{}

func (glancing) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if _, limited := ctx.Deadline(); !limited || ctx.Err() != nil {
		return ctx.Err()
	}
	return instant{}.Take(ctx, op, checks)
}

func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name string
		main store.Store
		opts []failover.Option
	}{
		{"direct, from memory", instant{}, []failover.Option{failover.Direct()}},
		{"direct, no wait", glancing{}, []failover.Option{failover.Direct()}},
		{"direct", looking{}, []failover.Option{failover.Direct()}},
		{"guarded", looking{}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			local := split.New(memstore.New(), split.Fixed{Live: 3})
			s := must(failover.New(c.main, local, c.opts...))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				checks := []store.Check{{Key: "ann", Spec: ten, Cost: 1}}
				for pb.Next() {
					if err := s.Take(context.Background(), store.Spend, checks); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// TestAllocs: a healthy decision costs one small allocation, the context, if nobody
// waits for its end.
func TestAllocs(t *testing.T) {
	for name, main := range map[string]store.Store{"from memory": instant{}, "no wait": glancing{}} {
		s := must(failover.New(main, memstore.New(), failover.Direct()))
		checks := []store.Check{{Key: "ann", Spec: ten, Cost: 1}}
		ctx := context.Background()
		if n := testing.AllocsPerRun(100, func() {
			if err := s.Take(ctx, store.Spend, checks); err != nil {
				t.Error(err)
			}
		}); n > 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
