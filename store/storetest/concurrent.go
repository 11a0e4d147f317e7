package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// crowd runs the same function in eight goroutines and waits for all.
func crowd(run func(worker int)) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() { run(worker) })
	}
	wg.Wait()
}

// testConcurrentSpend: while the clock stands still, exactly what the limit has is
// admitted, and every first request of a key is.
func testConcurrentSpend(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		if p.Kind == algo.LeakyBucket {
			return // only one goes without waiting
		}
		var admitted, firsts atomic.Int64
		crowd(func(worker int) {
			for i := range 100 {
				if w.try(store.Check{Key: "hot", Spec: p, Cost: 1}) {
					admitted.Add(1)
				}
				// Few enough for a small store to know them all at the same time.
				if i%10 == 0 && w.try(store.Check{Key: fmt.Sprint(worker, " ", i), Spec: p, Cost: 100}) {
					firsts.Add(1)
				}
			}
		})
		if got := admitted.Load(); got != 100 {
			w.Errorf("%d admitted of 100", got)
		}
		if got := firsts.Load(); got != 80 {
			w.Errorf("%d of 80 first requests of their keys admitted", got)
		}
	})
}

// try makes one call and reports whether all of it was allowed.
func (w *world) try(checks ...store.Check) bool {
	w.Helper()
	if err := w.store.Take(context.Background(), store.Spend, checks); err != nil {
		w.Errorf("take: %v", err)
		return false
	}
	for _, c := range checks {
		if !c.Verdict.Allowed {
			return false
		}
	}
	return true
}

// testConcurrentSeveral: calls over two keys, in both orders, while others refund
// and reserve. Nothing is lost, nothing is spent for a denial.
func testConcurrentSeveral(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		if p.Kind == algo.LeakyBucket {
			return
		}
		w.spend("b", p, 40)
		var both, single atomic.Int64
		crowd(func(worker int) {
			a, b := store.Check{Key: "a", Spec: p, Cost: 1}, store.Check{Key: "b", Spec: p, Cost: 1}
			for range 50 {
				checks := []store.Check{a, b}
				if worker%2 == 0 {
					checks = []store.Check{b, a}
				}
				if w.try(checks...) {
					both.Add(1)
				}
				if worker == 0 && w.try(a) {
					single.Add(1)
				}
			}
		})
		w.wantLeft("a", p, 100-both.Load()-single.Load(), "of what both took")
		w.wantLeft("b", p, 60-both.Load(), "of the second key")
		if got, one := both.Load(), single.Load(); got+one != 100 && got != 60 {
			w.Errorf("%d calls for both and %d for one were admitted, though there was more", got, one)
		}
		w.concurrentReservations(p)
	})
}

// concurrentReservations reserves and cancels: in the end all is back.
func (w *world) concurrentReservations(p *algo.Spec) {
	w.Helper()
	var settled atomic.Int64
	w.take(store.Reset, store.Check{Key: "k", Spec: p})
	crowd(func(worker int) {
		for i := range 20 {
			c := []store.Check{{Key: "k", Spec: p, Cost: 5, ID: fmt.Sprint(worker, " ", i), Hold: 1e6}}
			if err := w.store.Take(context.Background(), store.Reserve, c); err != nil || !c[0].Verdict.Allowed {
				continue
			}
			c[0].Cost = 0
			for range 2 { // the second one finds nothing
				if err := w.store.Take(context.Background(), store.Commit, c); err == nil && c[0].Verdict.Allowed {
					settled.Add(1)
				}
			}
		}
	})
	w.wantLeft("k", p, 100, fmt.Sprintf("after %d reservations were cancelled", settled.Load()))
}
