package linear

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// broken is a store with a fault.
type broken struct {
	inner store.Store
	calls atomic.Int64
	take  func(b *broken, op store.Op, checks []store.Check) error
}

func (b *broken) Take(_ context.Context, op store.Op, checks []store.Check) error {
	b.calls.Add(1)
	return b.take(b, op, checks)
}

func (b *broken) good(op store.Op, checks []store.Check) error {
	return b.inner.Take(context.Background(), op, checks)
}

// letOthers lets some calls of others happen.
func (b *broken) letOthers() {
	for before, n := b.calls.Load(), 0; n < 1000 && b.calls.Load() < before+3; n++ {
		runtime.Gosched()
	}
}

// half shows others, for a while, only the first spend of a call over several. One
// caller alone would never notice.
func half(b *broken, op store.Op, checks []store.Check) error {
	err := b.good(op, checks)
	if err != nil || op != store.Spend || len(checks) < 2 {
		return err
	}
	for _, c := range checks {
		if !c.Verdict.Allowed || c.Cost == 0 {
			return nil
		}
	}
	rest := append([]store.Check(nil), checks[1:]...)
	if err := b.good(store.Refund, rest); err != nil {
		return err
	}
	b.letOthers()
	return b.good(store.Spend, rest)
}

// lost forgets some spends.
func lost(b *broken, op store.Op, checks []store.Check) error {
	err := b.good(op, checks)
	if op == store.Spend && checks[0].Verdict.Allowed && checks[0].Cost > 0 && b.calls.Load()%20 == 0 {
		return b.good(store.Refund, append([]store.Check(nil), checks...))
	}
	return err
}

// stale answers some peeks from before the call began.
func stale() func(b *broken, op store.Op, checks []store.Check) error {
	var last atomic.Pointer[algo.Verdict]
	return func(b *broken, op store.Op, checks []store.Check) error {
		err := b.good(op, checks)
		if op != store.Spend || len(checks) > 1 || checks[0].Cost > 0 {
			return err
		}
		now := checks[0].Verdict
		if old := last.Swap(&now); old != nil && b.calls.Load()%3 == 0 {
			checks[0].Verdict = *old
		}
		return err
	}
}

// TestBrokenStoresAreFound: the checker finds each of the faults within the
// histories of a short run.
func TestBrokenStoresAreFound(t *testing.T) {
	p := limits(t)["token_bucket"]
	several := onSeveralKeys([]*algo.Spec{p}, 3)
	for _, c := range []struct {
		name string
		take func(b *broken, op store.Op, checks []store.Check) error
		draw func(r *rand.Rand) (store.Op, []store.Check)
	}{
		{"half of a call is seen", half, several},
		{"spends are lost", lost, onOneKey(p)},
		{"peeks are stale", stale(), onOneKey(p)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := func(now func() time.Time) store.Store {
				return &broken{inner: memstore.New(memstore.WithClock(now)), take: c.take}
			}
			for n := range 300 {
				if !linearizable(record(t, o, rand.New(rand.NewPCG(seed, uint64(n))), 100, c.draw)) {
					t.Logf("found in history %d", n)
					return
				}
			}
			t.Error("300 histories of a broken store seem linearizable")
		})
	}
}
