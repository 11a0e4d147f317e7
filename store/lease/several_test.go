package lease_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

var few = algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 30, Period: 3600 * 1e6}}}

// TestSeveral: a request over a leased limit and one that is not is all or
// nothing, and a denial gives the lease its tokens back.
func TestSeveral(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		log := compile(t, few)
		m.warm()
		allowed := 0
		for range 100 {
			got := m.take(store.Spend,
				store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1}, store.Check{Key: "k", Spec: log, Cost: 1})
			if !got[0].Verdict.Allowed {
				t.Fatalf("the window denies: %+v", got[0].Verdict)
			}
			if got[1].Verdict.Allowed {
				allowed++
			}
		}
		if allowed != 30 {
			t.Errorf("%d allowed, want 30", allowed)
		}
		m.fleet.close()
		if left := m.left(); left != 10_000-20-30 {
			t.Errorf("%d left, want %d", left, 10_000-20-30)
		}
	})
}

// TestSeveralLocal: if all limits are leased, the store is not asked.
func TestSeveralLocal(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		second := compile(t, thousands)
		both := func() []store.Check {
			return m.take(store.Spend, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 2},
				store.Check{Key: "k", Spec: second, Cost: 3}, store.Check{Key: "k", Spec: m.fleet.spec})
		}
		for range 40 {
			both()
			time.Sleep(200 * time.Microsecond)
		}
		asked := time.Now()
		for _, c := range both() {
			if !c.Verdict.Allowed {
				t.Errorf("%+v", c.Verdict)
			}
		}
		if time.Since(asked) > 0 {
			t.Errorf("took %v", time.Since(asked))
		}
	})
}

// TestSeveralFails: an error gives the lease its tokens back.
func TestSeveralFails(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		m.warm()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 10 {
			err := m.Take(ctx, store.Spend, []store.Check{
				{Key: "k", Spec: m.fleet.spec, Cost: 1}, {Key: "k", Spec: compile(t, few), Cost: 1},
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		m.fleet.close()
		if left := m.left(); left != 10_000-20 {
			t.Errorf("%d left, want %d", left, 10_000-20)
		}
	})
}

// TestNothingIsLost: instances fight for one window until it is used up, in real
// time. What was admitted and what is left at the end is the whole window: no
// token was spent twice, and none disappeared.
func TestNothingIsLost(t *testing.T) {
	def := algo.Spec{Kind: algo.FixedWindow, Count: 300_000, Period: 24 * 3600 * 1e6, FirstHit: true}
	spec, ctx, shared := compile(t, def), context.Background(), algotest.NewModel(time.Now)
	var admitted atomic.Int64
	var stores []*lease.Store
	var load sync.WaitGroup
	for range 3 {
		s, err := lease.New(shared, lease.Share(0.01))
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
		for i := range int64(4) {
			load.Go(func() {
				for {
					checks := []store.Check{{Key: "k", Spec: spec, Cost: 1 + i}}
					if err := s.Take(ctx, store.Spend, checks); err != nil {
						t.Error(err)
						return
					}
					if !checks[0].Verdict.Allowed {
						return
					}
					admitted.Add(1 + i)
				}
			})
		}
	}
	load.Wait()
	for _, s := range stores {
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	peek := []store.Check{{Key: "k", Spec: spec}}
	if err := shared.Take(ctx, store.Spend, peek); err != nil {
		t.Fatal(err)
	}
	left := spec.Remaining(peek[0].Verdict)
	if admitted.Load()+left != def.Count || left > def.Count/10 {
		t.Errorf("%d admitted, %d left of %d", admitted.Load(), left, def.Count)
	}
}
