package failover_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestProbeAmongHungCalls: the store is found although so many calls hang that there
// is no room for another.
func TestProbeAmongHungCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, failover.MaxRunning(100))
		defer w.store.Close()
		hung := make(chan struct{})
		w.main.mu.Lock()
		w.main.hanging = hung
		w.main.mu.Unlock()
		w.flood(120)
		for !w.store.Stats().Open {
			w.spend(w.store)
			time.Sleep(50 * time.Millisecond)
		}
		w.main.mu.Lock()
		w.main.hanging = nil // for new calls; the others go on hanging
		w.main.mu.Unlock()
		time.Sleep(time.Second)
		if synctest.Wait(); w.store.Stats().Open || w.store.Stats().Running < 100 {
			t.Errorf("%+v", w.store.Stats())
		}
		close(hung)
	})
}

// TestObserverCloses: it may, whatever it hears.
func TestObserverCloses(t *testing.T) {
	for _, open := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			main := &shaky{Store: memstore.New()}
			var s *failover.Store
			heard := 0
			s = must(failover.New(main, memstore.New(), failover.WithObserver(func(e failover.Event) {
				if heard++; e.Open == open {
					s.Close()
				}
			})))
			w := &world{t: t, main: main, store: s}
			main.set(errReset, 0, false)
			for heard == 0 {
				w.spend(s)
				time.Sleep(10 * time.Millisecond)
			}
			main.set(nil, 0, false)
			time.Sleep(time.Second)
			synctest.Wait()
			if s.Stats().Open || heard == 2 == open {
				t.Errorf("closing on open %v: %+v, %d events", open, s.Stats(), heard)
			}
		})
	}
}
