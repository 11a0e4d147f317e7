package memstore

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

const (
	second = 1_000_000
	hour   = 3600 * second
)

var start = time.Date(2024, 5, 17, 10, 0, 0, 0, time.UTC).UnixMicro()

// world is a store whose clock stands still unless a test moves it.
type world struct {
	testing.TB
	*Store
	at atomic.Int64 // µs
}

func newWorld(t testing.TB, options ...Option) *world {
	w := &world{TB: t}
	w.at.Store(start)
	w.Store = New(append(options, WithClock(w.now))...)
	return w
}

func (w *world) now() time.Time { return time.UnixMicro(w.at.Load()) }

// take carries out an operation that must not fail.
func (w *world) take(op store.Op, checks ...store.Check) []store.Check {
	w.Helper()
	if err := w.Take(context.Background(), op, checks); err != nil {
		w.Errorf("take: operation %d: %v", op, err)
	}
	return checks
}

// all reports whether a spend of all checks was allowed.
func (w *world) all(checks ...store.Check) bool {
	w.Helper()
	for _, c := range w.take(store.Spend, checks...) {
		if !c.Verdict.Allowed {
			return false
		}
	}
	return true
}

func (w *world) spend(name string, p *algo.Spec, cost int64) bool {
	w.Helper()
	return w.all(store.Check{Key: name, Spec: p, Cost: cost})
}

// left is what remains to a key, by a peek.
func (w *world) left(name string, p *algo.Spec) int64 {
	w.Helper()
	return p.Remaining(w.take(store.Spend, store.Check{Key: name, Spec: p})[0].Verdict)
}

// slotOf returns the key's live slot, or nil.
func (w *world) slotOf(name string, p *algo.Spec) *slot {
	k := w.hash.key(name, p.Shape())
	return w.tableOf(p).page(k).live(k)
}

// eachSlot visits all live slots.
func (w *world) eachSlot(visit func(p *page, sl *slot)) {
	w.eachPage(func(p *page) {
		for n := uint(0); n < places(p.table.step); n += p.table.step {
			if sl := p.slots.Load().at(n); sl.hi.Load()|sl.lo.Load() != 0 && sl.word.Load()&moved == 0 {
				visit(p, sl)
			}
		}
	})
}

// eachPage visits all pages that have slots.
func (w *world) eachPage(visit func(p *page)) {
	for _, t := range w.tables() {
		for i := range t.shards {
			d, last := t.shards[i].dir, (*page)(nil)
			for j := range d.pages {
				if p := d.pages[j].Load(); p != last && p.slots.Load() != nil {
					last = p
					visit(p)
				}
			}
		}
	}
}

func compile(t testing.TB, p algo.Spec) *algo.Spec {
	t.Helper()
	spec, err := algo.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// perHour is a token bucket of n that fits into a word.
func perHour(t testing.TB, n int64) *algo.Spec {
	t.Helper()
	return compile(t, algo.Spec{Kind: algo.TokenBucket, Count: n, Period: hour, Burst: n})
}

// everyKind returns limits of n per hour of every algorithm that counts.
func everyKind(t testing.TB, n int64) []*algo.Spec {
	t.Helper()
	var specs []*algo.Spec
	for _, p := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: n, Period: hour, Burst: n},
		{Kind: algo.TokenBucket, Count: 1_000_003, Period: 10_000 * hour, Burst: n}, // does not fit into a word
		{Kind: algo.IntervalBucket, Count: n, Period: hour, Burst: n},
		{Kind: algo.FixedWindow, Count: n, Period: hour},
		{Kind: algo.FixedWindow, Count: n, Period: hour, FirstHit: true},
		{Kind: algo.SlidingWindow, Count: n, Period: hour, Sub: 4},
		{Kind: algo.WeightedWindow, Count: n, Period: hour},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: n, Period: hour}}},
	} {
		specs = append(specs, compile(t, p))
	}
	return specs
}

// crowd runs f in n goroutines and waits for all.
func crowd(n int, f func(worker int)) {
	var wg sync.WaitGroup
	for worker := range n {
		wg.Go(func() { f(worker) })
	}
	wg.Wait()
}

// soak returns small, or large in a long run.
func soak(small, large int) int {
	if os.Getenv("SLUICE_SOAK") != "" {
		return large
	}
	return small
}

// one is TakeOne with the answer returned, and with waiting.
func (w *world) one(name string, p *algo.Spec, cost, maxWait int64) (v algo.Verdict) {
	if maxWait > 0 {
		return w.take(store.Spend, store.Check{Key: name, Spec: p, Cost: cost, MaxWait: maxWait})[0].Verdict
	}
	w.TakeOne(name, p, cost, &v)
	return v
}
