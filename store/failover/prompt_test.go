package failover_test

import (
	"context"
	"testing"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// prompt is a store that says whether it returns when its context ends, and calls back.
type prompt struct {
	store.Store
	honors bool
	during func()
}

func (p *prompt) HonorsContext() bool { return p.honors }

func (p *prompt) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	p.during()
	return p.Store.Take(ctx, op, checks)
}

// TestPrompt: a store that says that it ends with its context gets no goroutine, and
// one that says the contrary does.
func TestPrompt(t *testing.T) {
	for _, honors := range []bool{true, false} {
		for _, leased := range []bool{false, true} {
			main := &prompt{Store: memstore.New(), honors: honors}
			given := store.Store(main)
			if leased {
				l := must(lease.New(main))
				defer l.Close(t.Context())
				given = l
			}
			s := must(failover.New(given, memstore.New()))
			running := int64(-1)
			main.during = func() { running = s.Stats().Running }
			checks := []store.Check{{Key: "ann", Spec: ten, Cost: 1, ID: "x", Hold: 1000}}
			if err := s.Take(t.Context(), store.Reserve, checks); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int64{true: 0, false: 1}[honors]; running != want {
				t.Errorf("honors %v, leased %v: %d goroutines", honors, leased, running)
			}
		}
	}
	if !(&redisstore.Store{}).HonorsContext() || store.HonorsContext(memstore.New()) {
		t.Error("Redis or memory")
	}
}
