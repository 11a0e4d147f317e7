package failover_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/storetest"
)

// TestConformance: while the main store is well, it decides, whichever way it is
// called; and while it is down, the local one does.
func TestConformance(t *testing.T) {
	for name, open := range map[string]func(mem store.Store) (*failover.Store, error){
		"guarded": func(mem store.Store) (*failover.Store, error) {
			return failover.New(mem, memstore.New(), failover.Deadline(time.Minute))
		},
		"direct": func(mem store.Store) (*failover.Store, error) {
			return failover.New(mem, memstore.New(), failover.Deadline(time.Minute), failover.Direct())
		},
		"down": func(mem store.Store) (*failover.Store, error) {
			return failover.New(broken{}, mem, failover.Direct())
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t testing.TB, now func() time.Time) store.Store {
				mem := memstore.New(memstore.WithClock(now))
				s, err := open(mem)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				if name == "down" {
					return marking{s, mem}
				}
				return s
			}, storetest.Steps(algotest.Rounds(100, 20_000)))
		})
	}
}

// broken is a store that knows what is wrong with the input, and nothing else.
type broken struct{}

func (broken) Take(_ context.Context, op store.Op, checks []store.Check) error {
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	return errReset
}

// marking gives back what was taken in an outage with the mark that it got then. In
// an outage every Renew succeeds, as no other store's does, so it is left out.
type marking struct {
	*failover.Store
	mem store.Store
}

func (m marking) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	for i := range checks {
		checks[i].Degraded = op == store.Cancel || op == store.Return
	}
	if op == store.Renew {
		return m.mem.Take(ctx, op, checks)
	}
	return m.Store.Take(ctx, op, checks)
}
