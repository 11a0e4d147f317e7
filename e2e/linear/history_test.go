package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

const (
	clients = 8
	start   = 1_700_000_000_000_000 // µs
)

// open makes a store that lives by the given clock.
type open func(now func() time.Time) store.Store

// limits are small ones of every algorithm, so that denials are common.
func limits(t testing.TB) map[string]*algo.Spec {
	t.Helper()
	specs := map[string]*algo.Spec{}
	for name, p := range map[string]algo.Spec{
		"token_bucket":           {Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 10},
		"token_bucket thirds":    {Kind: algo.TokenBucket, Count: 3, Period: 1e6, Burst: 7},
		"token_bucket no word":   {Kind: algo.TokenBucket, Count: 999_983, Period: 1e11, Burst: 10},
		"interval_bucket":        {Kind: algo.IntervalBucket, Count: 5, Period: 1e6, Burst: 10},
		"leaky_bucket":           {Kind: algo.LeakyBucket, Count: 10, Period: 1e6, Burst: 5},
		"warm_up":                {Kind: algo.WarmUp, Count: 50, Period: 1e6, Warm: 1e6, Cold: 3},
		"fixed_window":           {Kind: algo.FixedWindow, Count: 10, Period: 1e6},
		"fixed_window first_hit": {Kind: algo.FixedWindow, Count: 10, Period: 1e6, FirstHit: true},
		"sliding_window":         {Kind: algo.SlidingWindow, Count: 10, Period: 1e6, Sub: 4},
		"weighted_window":        {Kind: algo.WeightedWindow, Count: 10, Period: 1e6},
		"sliding_log":            {Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 10, Period: 1e6}, {Count: 4, Period: 1e5}}},
	} {
		spec, err := algo.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		specs[name] = spec
	}
	return specs
}

// recorder collects a history.
type recorder struct {
	store  store.Store
	clock  atomic.Int64 // µs; moves only while no client is at work
	reads  atomic.Int64 // of the clock
	ticks  atomic.Int64 // orders calls and returns
	serial int          // of strangers
	mu     sync.Mutex   // guards ops
	ops    []porcupine.Operation
}

// record lets clients make n calls, which draw returns. While the clock stands
// still each of them makes a few; then it moves on, and strangers come, so that
// the table of the store has to grow.
func record(t testing.TB, o open, r *rand.Rand, n int, draw func(r *rand.Rand) (store.Op, []store.Check)) []porcupine.Operation {
	t.Helper()
	rec := &recorder{}
	rec.clock.Store(start)
	rec.store = o(func() time.Time {
		if rec.reads.Add(1)%3 == 0 {
			runtime.Gosched() // in the middle of a decision: others come in between
		}
		return time.UnixMicro(rec.clock.Load())
	})
	for len(rec.ops) < n {
		var wg sync.WaitGroup
		for client := range clients {
			seed := r.Uint64()
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, 0))
				for range 1 + r.IntN(4) {
					op, checks := draw(r)
					rec.take(t, client, op, checks)
				}
			})
		}
		wg.Go(func() { rec.strangers(t) })
		wg.Wait()
		if r.IntN(3) > 0 {
			rec.clock.Add(r.Int64N(300_000))
		}
	}
	return rec.ops
}

// take makes one call and notes it.
func (rec *recorder) take(t testing.TB, client int, op store.Op, checks []store.Check) {
	in := call{op, rec.clock.Load(), append([]store.Check(nil), checks...)}
	called := rec.ticks.Add(1)
	if err := rec.store.Take(context.Background(), op, checks); err != nil {
		t.Errorf("take: %v", err)
	}
	returned := rec.ticks.Add(1)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.ops = append(rec.ops, porcupine.Operation{
		ClientId: client, Input: in, Call: called, Output: answersOf(op, checks), Return: returned,
	})
}

var stranger = sync.OnceValue(func() *algo.Spec {
	spec, _ := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 1})
	return spec
})

// strangers spends from new keys that nobody watches.
func (rec *recorder) strangers(t testing.TB) {
	for range 60 {
		rec.serial++
		c := []store.Check{{Key: fmt.Sprint("stranger ", rec.serial), Spec: stranger(), Cost: 1}}
		if err := rec.store.Take(context.Background(), store.Spend, c); err != nil {
			t.Errorf("take: %v", err)
		}
	}
}

// linearizable reports whether there is an order for the history.
func linearizable(history []porcupine.Operation) bool {
	return porcupine.CheckOperations(model(), history)
}

// describe prints a history for a complaint.
func describe(history []porcupine.Operation) string {
	var b strings.Builder
	for _, o := range history {
		fmt.Fprintf(&b, "%d..%d client %d: %s\n", o.Call, o.Return, o.ClientId, model().DescribeOperation(o.Input, o.Output))
	}
	return b.String()
}

// soaking tells a long run.
func soaking() bool { return os.Getenv("SLUICE_SOAK") != "" }

// size returns how many histories of how many calls are recorded.
func size() (histories, calls int) {
	if soaking() {
		return 10_000, 200
	}
	return 300, 100
}
