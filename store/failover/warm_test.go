package failover_test

import (
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestWarmKinds: whatever the limit, a cost above the share leaves nothing of it for
// an outage.
func TestWarmKinds(t *testing.T) {
	const hour = 3600 * second
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 1, Period: hour, Burst: 82},
		{Kind: algo.IntervalBucket, Count: 1, Period: hour, Burst: 82},
		{Kind: algo.FixedWindow, Count: 82, Period: hour},
		{Kind: algo.SlidingWindow, Count: 82, Period: hour, Sub: 10},
		{Kind: algo.WeightedWindow, Count: 82, Period: hour},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 82, Period: hour}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			spec := must(algo.Compile(def))
			local := split.New(memstore.New(), split.Fixed{Rank: 1, Live: 4})
			s := must(failover.New(w.main, local))
			w.take(s, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 3})
			if c := w.take(s, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 70}); !c.Verdict.Allowed {
				t.Fatalf("kind %d: %+v", def.Kind, c)
			}
			w.main.set(errReset, 0, false)
			if c := w.take(s, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 1}); c.Verdict.Allowed || !c.Degraded {
				t.Errorf("kind %d: %+v", def.Kind, c)
			}
		})
	}
}
