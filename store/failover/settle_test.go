package failover_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

func reservation(id string, cost int64) store.Check {
	return store.Check{Key: "ann", Spec: ten, Cost: cost, ID: id, Hold: 3600 * second}
}

// left returns what remains in a store.
func (w *world) left(s store.Store) int64 {
	w.t.Helper()
	c := w.take(s, store.Spend, store.Check{Key: "ann", Spec: ten})
	return ten.Remaining(c.Verdict)
}

// TestCommit: a reservation is settled where it was made, also when the store came
// back meanwhile; one of a store that is down stays as it is.
func TestCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.take(w.store, store.Reserve, reservation("main", 4))
		w.main.set(errReset, 0, false)
		c := w.take(w.store, store.Reserve, reservation("local", 6))
		if !c.Verdict.Allowed || !c.Degraded || w.left(w.local) != 4 {
			t.Errorf("reserved locally: %+v, %d left", c, w.left(w.local))
		}
		if c = w.take(w.store, store.Commit, reservation("main", 1)); c.Verdict.Allowed || !c.Degraded {
			t.Errorf("settled what nobody knows: %+v", c)
		}
		w.main.set(nil, 0, false)
		if c = w.take(w.store, store.Commit, reservation("local", 1)); !c.Verdict.Allowed || !c.Degraded || w.left(w.local) != 9 {
			t.Errorf("settled locally: %+v, %d left", c, w.left(w.local))
		}
		if c = w.take(w.store, store.Commit, reservation("main", 1)); !c.Verdict.Allowed || c.Degraded || w.left(w.main.Store) != 9 {
			t.Errorf("settled: %+v, %d left", c, w.left(w.main.Store))
		}
		if c = w.take(w.store, store.Commit, reservation("nobody", 1)); c.Verdict.Allowed || c.Degraded {
			t.Errorf("settled what nobody reserved: %+v", c)
		}
	})
}

// TestGiveBack: what is known by a mark goes back to where it was taken, or nowhere.
func TestGiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lease := store.Check{Key: "ann", Spec: ten, Cost: 4, Want: 4}
		ours := w.take(w.store, store.Lease, lease)
		w.main.set(errReset, 0, false)
		theirs := w.take(w.store, store.Lease, lease)
		if ours.Degraded || !theirs.Degraded || theirs.Granted != 4 {
			t.Errorf("leased %+v and %+v", ours, theirs)
		}
		if c := w.take(w.store, store.Return, ours); c.Verdict.Allowed || !c.Degraded || w.left(w.local) != 6 {
			t.Errorf("returned to the wrong store: %+v, %d left", c, w.left(w.local))
		}
		w.main.set(nil, 0, false)
		w.take(w.store, store.Return, theirs)
		if w.left(w.local) != 10 || w.left(w.main.Store) != 6 {
			t.Errorf("%d left locally, %d in the main store", w.left(w.local), w.left(w.main.Store))
		}
		w.spend(w.local)
		w.take(w.store, store.Reset, store.Check{Key: "ann", Spec: ten})
		if w.left(w.local) != 10 || w.left(w.main.Store) != 10 {
			t.Error("not all was reset")
		}
		w.spend(w.local)
		w.main.set(errReset, 0, false)
		if w.take(w.store, store.Refund, store.Check{Key: "ann", Spec: ten, Cost: 1}); w.left(w.local) != 10 {
			t.Error("not refunded")
		}
	})
}

// TestBlindOps: what the policies without a store say to all other operations.
func TestBlindOps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		five := must(algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 5}))
		w.open()
		for _, p := range []failover.Policy{failover.Allow, failover.Deny} {
			s, yes := w.store.WithPolicy(p), p == failover.Allow
			for op, want := range map[store.Op]bool{
				store.Spend: yes, store.Reserve: yes, store.Lease: yes, store.Acquire: yes, store.Renew: true, store.Release: true,
				store.Commit: false, store.Cancel: false, store.Return: false, store.Refund: false, store.Reset: false,
			} {
				c := reservation("id", 3)
				if c.Want, c.Granted = 5, 5; op >= store.Acquire {
					c.Spec = five
				}
				if c = w.take(s, op, c); c.Verdict.Allowed != want || !c.Degraded {
					t.Errorf("%v, operation %d: %+v", p, op, c)
				}
				if op == store.Lease && (c.Granted == 3) != yes {
					t.Errorf("%v: granted %d", p, c.Granted)
				}
			}
		}
		w.heal()
	})
}

// TestPermits: an outage takes a permit from nobody. Those of the main store are
// counted here as they are renewed, and those of here stay here.
func TestPermits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		two := must(algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 2}))
		permit := func(op store.Op, id string) store.Check {
			return w.take(w.store, op, store.Check{Key: "db", Spec: two, Cost: 1, ID: id, Hold: 60 * second})
		}
		permit(store.Acquire, "a")
		w.main.set(errReset, 0, false)
		if c := permit(store.Renew, "a"); !c.Verdict.Allowed || !c.Degraded {
			t.Errorf("renewed in an outage: %+v", c)
		}
		if !permit(store.Acquire, "b").Verdict.Allowed || permit(store.Acquire, "c").Verdict.Allowed {
			t.Error("two are not two")
		}
		if c := permit(store.Renew, "d"); !c.Verdict.Allowed {
			t.Error("stopped who is at work")
		}
		if deny := w.store.WithPolicy(failover.Deny); w.take(deny, store.Acquire,
			store.Check{Key: "db", Spec: two, Cost: 1, ID: "e", Hold: second}).Verdict.Allowed {
			t.Error("acquired against the policy")
		}
		for !w.store.Stats().Open {
			permit(store.Renew, "b")
			time.Sleep(100 * time.Millisecond)
		}
		w.heal()
		if c := permit(store.Release, "b"); !c.Verdict.Allowed || !c.Degraded {
			t.Errorf("released after the outage: %+v", c)
		}
		if c := permit(store.Release, "b"); c.Verdict.Allowed {
			t.Error("released twice")
		}
	})
}
