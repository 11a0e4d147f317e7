package failover_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// three permits of a database.
var three = must(algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 3}))

func permit(id string) store.Check {
	return store.Check{Key: "db", Spec: three, Cost: 1, ID: id, Hold: 60 * second}
}

// free returns how many permits a store has left.
func (w *world) free(s store.Store) int64 {
	w.t.Helper()
	c := permit("peek")
	c.Cost = 0
	return three.Remaining(w.take(s, store.Acquire, c).Verdict)
}

// wantFree fails unless both stores have so many permits left.
func (w *world) wantFree(when string, main, local int64) {
	w.t.Helper()
	if m, l := w.free(w.main.Store), w.free(w.local); m != main || l != local {
		w.t.Errorf("%s: the main store has %d left and the local one %d, want %d and %d", when, m, l, main, local)
	}
}

// TestBringHome: the permits of an outage are counted by the main store again when
// they are renewed, once; those that it has no room for stay in the local one.
func TestBringHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.take(w.store, store.Acquire, permit("before"))
		w.main.set(errReset, 0, false)
		w.take(w.store, store.Renew, permit("before"))
		w.take(w.store, store.Acquire, permit("a"))
		w.take(w.store, store.Acquire, permit("b"))
		w.wantFree("outage", 2, 0)
		w.main.set(nil, 0, false)
		w.take(w.main.Store, store.Acquire, permit("another instance's"))
		for id, degraded := range map[string]bool{"before": false, "a": false} {
			if c := w.take(w.store, store.Renew, permit(id)); !c.Verdict.Allowed || c.Degraded != degraded {
				t.Errorf("%s: %+v", id, c)
			}
		}
		w.wantFree("two came home", 0, 2)
		if c := w.take(w.store, store.Renew, permit("b")); !c.Verdict.Allowed || !c.Degraded {
			t.Errorf("no room: %+v", c)
		}
		w.wantFree("one stayed", 0, 2)
		w.take(w.main.Store, store.Release, permit("another instance's"))
		if c := w.take(w.store, store.Renew, permit("b")); !c.Verdict.Allowed || c.Degraded {
			t.Errorf("there is room now: %+v", c)
		}
		w.wantFree("all came home", 0, 3)
		for _, id := range []string{"before", "a", "b"} {
			if c := w.take(w.store, store.Release, permit(id)); !c.Verdict.Allowed || c.Degraded {
				t.Errorf("released %s: %+v", id, c)
			}
		}
		w.wantFree("released", 3, 3)
	})
}

// slow carries out what it is asked, but answers too late.
type slow struct{ store.Store }

func (s slow) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	_ = s.Store.Take(ctx, op, checks)
	<-ctx.Done()
	return ctx.Err()
}

// TestTakenTwice: what the main store carried out, but too late, so that it was taken
// locally as well, is settled in both.
func TestTakenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		late := must(failover.New(slow{w.main.Store}, w.local))
		for _, id := range []string{"a", "b"} {
			w.take(late, store.Acquire, permit(id))
		}
		w.take(late, store.Reserve, reservation("r", 6))
		w.wantFree("taken", 1, 1)
		late.Close()
		synctest.Wait()

		w.main.set(errReset, 0, false) // so that this one, too, has taken something locally
		w.take(w.store, store.Acquire, permit("c"))
		w.main.set(nil, 0, false)
		if c := w.take(w.store, store.Release, permit("a")); !c.Verdict.Allowed || c.Degraded {
			t.Errorf("released: %+v", c)
		}
		w.wantFree("released", 2, 1)
		w.take(w.store, store.Renew, permit("b"))
		w.wantFree("renewed", 2, 2)
		w.take(w.store, store.Commit, reservation("r", 2))
		if m, l := w.left(w.main.Store), w.left(w.local); m != 8 || l != 8 {
			t.Errorf("%d left in the main store and %d locally, want 8", m, l)
		}
	})
}

// TestOvertaken: a Renew that comes after the Release, both without the main store,
// takes nothing.
func TestOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.take(w.store, store.Acquire, permit("a"))
		w.main.set(errReset, 0, false)
		w.take(w.store, store.Release, permit("a"))
		if c := w.take(w.store, store.Renew, permit("a")); !c.Verdict.Allowed {
			t.Errorf("renewed: %+v", c)
		}
		w.wantFree("released", 2, 3)
		time.Sleep(time.Second)
		w.take(w.store, store.Renew, permit("b"))
		w.wantFree("another", 2, 2)
	})
}
