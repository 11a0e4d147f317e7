package failover_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// TestBreaker: it opens within a second, however rarely the store is asked, stays
// open while the store is down, closes within a second after that, and tells of it.
func TestBreaker(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 30 * time.Millisecond, 400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.spend(w.store)
			w.main.set(errReset, 0, false)
			begin := time.Now()
			for !w.store.Stats().Open {
				w.spend(w.store)
				if !w.store.Stats().Open {
					time.Sleep(every)
				}
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("asked every %v: opened after %v", every, took)
			}
			calls := w.main.calls.Load()
			for range 1000 {
				w.spend(w.store)
			}
			if n := w.main.calls.Load(); n != calls {
				t.Errorf("a store that is down was asked %d times", n-calls)
			}
			time.Sleep(10 * time.Second)
			if n := w.main.calls.Load() - calls; n < 20 || n > 80 {
				t.Errorf("%d probes in ten seconds", n)
			}
			w.main.set(nil, 0, false)
			begin = time.Now()
			time.Sleep(time.Second)
			if synctest.Wait(); w.store.Stats().Open {
				t.Error("still open after a second")
			}
			if c := w.spend(w.store); c.Degraded {
				t.Error("still degraded")
			}
			e := w.events
			if len(e) != 2 || !e[0].Open || e[0].Cause != errReset || e[1].Open || e[1].Cause != nil || e[1].At.Before(begin) {
				t.Errorf("events %+v", e)
			}
		}) // the bubble ends: no goroutine is left although nobody closed it
	}
}

// TestNotOpen: what is no dead store does not open the breaker.
func TestNotOpen(t *testing.T) {
	t.Run("some fail", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for i := range 10_000 {
				w.main.set(nil, time.Millisecond, false)
				if i%3 == 0 {
					w.main.set(errReset, 0, false)
				}
				w.spend(w.store)
			}
			if len(w.events) > 0 {
				t.Error("a third of the calls failed")
			}
			w.main.set(errReset, 0, false) // and now all
			begin := time.Now()
			for !w.store.Stats().Open {
				w.spend(w.store)
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("opened after %v", took)
			}
			w.heal()
		})
	})
	t.Run("now and then", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for range 10 {
				w.main.set(errReset, 0, false)
				w.spend(w.store)
				time.Sleep(2 * time.Second)
				w.main.set(nil, 0, false)
				w.spend(w.store)
				time.Sleep(10 * time.Second)
			}
			if len(w.events) > 0 {
				t.Error("opened")
			}
		})
	})
	t.Run("one connection breaks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.main.set(errReset, 0, false)
			for range 128 {
				w.spend(w.store)
			}
			w.main.set(nil, time.Millisecond, false)
			for range 2000 {
				w.spend(w.store)
			}
			w.main.set(errReset, 0, false)
			w.spend(w.store)
			if len(w.events) > 0 {
				t.Error("opened")
			}
		})
	})
}

// TestAnswersFromMemory: answers for which the store did not look at the time say
// nothing of its health.
func TestAnswersFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, failover.Direct())
		w.main.set(errReset, 0, false)
		memory := must(failover.New(remembering{w.main}, w.local, failover.Direct()))
		for range 100 {
			for range 100 {
				w.take(memory, store.Spend, store.Check{Key: "remembered", Spec: ten})
			}
			w.spend(memory)
			time.Sleep(10 * time.Millisecond)
		}
		if !memory.Stats().Open {
			t.Error("the failures are hidden")
		}
		memory.Close()
	})
}

// remembering answers for one key by itself.
type remembering struct{ *shaky }

func (r remembering) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if checks[0].Key == "remembered" {
		return nil
	}
	return r.shaky.Take(ctx, op, checks)
}

// TestProbe: a given probe is asked instead of the store, within the deadline.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		var asked atomic.Int64
		w := newWorld(t, failover.Probe(func(ctx context.Context) error {
			if asked.Add(1); up.Load() {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		w.open()
		w.main.set(nil, 0, false)
		time.Sleep(5 * time.Second)
		if !w.store.Stats().Open || asked.Load() < 10 {
			t.Errorf("open %v after %d probes", w.store.Stats().Open, asked.Load())
		}
		up.Store(true)
		w.heal()
	})
}

// TestClose: nothing goes on in the background, and the store can still be used.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		w.store.Close()
		for range 100 {
			if c := w.spend(w.store); !c.Degraded || w.store.Stats().Open {
				t.Fatal("opened after closing, or decided by nobody")
			}
			time.Sleep(20 * time.Millisecond)
		}
		w.main.set(nil, 0, false)
		if c := w.spend(w.store); c.Degraded {
			t.Error("degraded although the store is well")
		}
	})
}

// TestManyHang: however many callers a hanging store has, the calls are bounded.
func TestManyHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, failover.MaxRunning(100))
		w.main.set(nil, 0, true)
		w.flood(120)
		if n := w.store.Stats().Running; n != 100 {
			t.Errorf("%d calls are under way", n)
		}
		w.main.set(nil, 0, false)
		w.store.Close()
	})
}

// flood makes many calls at a time.
func (w *world) flood(calls int) {
	w.t.Helper()
	begin := time.Now()
	for range calls {
		go func() {
			if w.spend(w.store); time.Since(begin) > failover.DefaultDeadline {
				w.t.Errorf("decided after %v", time.Since(begin))
			}
		}()
	}
	time.Sleep(failover.DefaultDeadline)
	synctest.Wait()
}
