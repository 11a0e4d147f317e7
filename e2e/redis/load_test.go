package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// deadline is how long one decision may take here. It is far above what anybody
// would set, so that only faults end it.
const deadline = time.Second

// quick refills during a test; slow does not, so that what was spent can be
// counted afterwards.
var (
	quick = algo.Spec{Kind: algo.TokenBucket, Count: 200, Period: 1e6, Burst: 20}
	slow  = algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 24 * 3600e6, Burst: 30_000}
)

func compile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// callers is how many call at once: enough to let decisions ride together.
const callers = 32

// load is what many callers do to several stores at once.
type load struct {
	t    testing.TB
	keys []string // fresh ones; the first is hot: it gets half of all requests
	log  oracle.Log
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// loads counts them, so that each has keys of its own.
var loads atomic.Int64

// startLoad lets callers spend from ten keys until Stop, spread over the stores.
func startLoad(t testing.TB, p *algo.Spec, stores ...store.Store) *load {
	t.Helper()
	number := loads.Add(1)
	keys := []string{fmt.Sprint("hot ", number)}
	for i := range 9 {
		keys = append(keys, fmt.Sprintf("key %d of %d", i, number))
	}
	return loadKeys(t, keys, p, stores...)
}

// loadKeys is startLoad for given keys.
func loadKeys(t testing.TB, keys []string, p *algo.Spec, stores ...store.Store) *load {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: t, keys: keys, stop: stop}
	seed := algotest.Seed(t, 0)
	for caller := range callers {
		r, s := algotest.Rand(seed, uint64(caller)), stores[caller%len(stores)]
		l.wg.Go(func() { l.call(ctx, s, p, r) })
	}
	t.Cleanup(l.Stop)
	return l
}

// call makes requests one after the other. Together they are some thousands per
// second, so that the log stays short enough to be judged.
func (l *load) call(ctx context.Context, s store.Store, p *algo.Spec, r *rand.Rand) {
	pace := time.NewTicker(callers / 4 * time.Millisecond)
	defer pace.Stop()
	for ctx.Err() == nil {
		key := l.keys[0]
		if r.IntN(2) == 0 {
			key = algotest.Pick(r, l.keys[1:])
		}
		within, cancel := withTimeout(deadline)
		l.log.Spend(within, s, key, p, 1+r.Int64N(3))
		cancel()
		<-pace.C
	}
}

// Stop ends the callers and waits for them.
func (l *load) Stop() {
	l.stop()
	l.wg.Wait()
}

// more waits until n further requests had the outcome.
func (l *load) more(n int, o oracle.Outcome) {
	l.t.Helper()
	want := l.log.Count(o) + n
	redistest.Wait(l.t, fmt.Sprintf("%d requests more have the outcome %d", n, o), func() bool { return l.log.Count(o) >= want })
}

// wantNoFailures complains if callers saw errors.
func (l *load) wantNoFailures() {
	l.t.Helper()
	for _, e := range l.log.Entries() {
		if e.Outcome == oracle.Failed {
			l.t.Fatalf("%d of %d requests failed, the first one after %d µs: %v",
				l.log.Count(oracle.Failed), len(l.log.Entries()), e.End-e.Start, e.Err)
		}
	}
}

// spent is what the store counts as spent from a key of a bucket.
func spent(t testing.TB, s store.Store, key string, p *algo.Spec) int64 {
	t.Helper()
	c := []store.Check{{Key: key, Spec: p}}
	var err error
	redistest.Wait(t, "the store answers again", func() bool {
		ctx, cancel := withTimeout(deadline)
		defer cancel()
		err = s.Take(ctx, store.Spend, c)
		return err == nil
	})
	return p.Burst - p.Remaining(c[0].Verdict)
}

// wantSpent checks that every key was charged once for what was admitted, and at
// most once for what failed.
func (l *load) wantSpent(s store.Store, p *algo.Spec) {
	l.t.Helper()
	for _, key := range l.keys {
		l.log.CheckSpent(l.t, key, spent(l.t, s, key, p))
	}
}

// withTimeout is a context that ends by itself.
func withTimeout(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

func check(key string, p *algo.Spec, cost int64) store.Check {
	return store.Check{Key: key, Spec: p, Cost: cost}
}
