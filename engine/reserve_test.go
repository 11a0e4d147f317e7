package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func reserve(t *testing.T, e *engine.Engine, user string, cost int64) *engine.Reservation {
	t.Helper()
	r := from(user)
	r.Cost = cost
	res, err := e.Reserve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// left returns what the binding limit has left after one more.
func left(t *testing.T, e *engine.Engine) int64 {
	t.Helper()
	d, err := e.Peek(t.Context(), from("ann"))
	if err != nil {
		t.Fatal(err)
	}
	return d.Remaining()
}

// TestReserve: an estimate is settled once, in all stores.
func TestReserve(t *testing.T) {
	e := open(t, compile(t, perUser("a", "100/h", "instance: fixed_window 100/h"), mode(perUser("soft", "100/h"), rule.Shadow)), nil, engine.WithClock(newHands().Now))
	res := reserve(t, e, "ann", 40)
	if !res.OK() || res.ID == "" || left(t, e) != 59 {
		t.Fatalf("%s, left %d", said(res.Decision), left(t, e))
	}
	if err := res.Commit(t.Context(), 10); err != nil || left(t, e) != 89 {
		t.Errorf("commit: %v, left %d", err, left(t, e))
	}
	if err := res.Commit(t.Context(), 0); !errors.Is(err, sluice.ErrSettled) || left(t, e) != 89 {
		t.Errorf("second commit: %v, left %d", err, left(t, e))
	}
	res.Cancel()
	if left(t, e) != 89 {
		t.Errorf("cancel after commit: left %d", left(t, e))
	}
	reserve(t, e, "ann", 50).Cancel()
	if left(t, e) != 89 {
		t.Errorf("cancelled: left %d", left(t, e))
	}
	if err := reserve(t, e, "ann", 1).Commit(t.Context(), -1); !errors.Is(err, sluice.ErrCost) {
		t.Errorf("negative: %v", err)
	}
	denied := reserve(t, e, "ann", 90)
	if denied.OK() || denied.Commit(t.Context(), 1) != sluice.ErrSettled {
		t.Errorf("denied: %s", said(denied.Decision))
	}
	r := from("ann")
	r.Cost = 2e15
	if res, err := e.Reserve(t.Context(), r); res != nil || !errors.Is(err, sluice.ErrCost) {
		t.Errorf("too much: %v, %v", res, err)
	}
}

// TestReserveGivesBack: a reservation that a later store denies leaves nothing behind.
func TestReserveGivesBack(t *testing.T) {
	e := open(t, compile(t, perUser("a", "instance: 100/h", "instance: fixed_window 100/h"), perUser("b", "50/h")), nil, engine.WithClock(newHands().Now))
	for range 10 {
		res := reserve(t, e, "ann", 60)
		if res.OK() || res.Rule.Name != "b" {
			t.Fatal(said(res.Decision))
		}
		if err := e.Commit(t.Context(), from("ann"), res.ID, 0); !errors.Is(err, sluice.ErrSettled) {
			t.Fatalf("a reservation is left: %v", err)
		}
	}
	if got := left(t, e); got != 49 {
		t.Errorf("left %d", got)
	}
	x, err := e.Explain(t.Context(), from("ann"))
	if err != nil || x.Rules[0].Limits[0].Remaining != 99 || x.Rules[0].Limits[1].Remaining != 99 {
		t.Errorf("%v\n%s", err, states(x))
	}
}

// TestCommitByID: another engine on the same store settles a reservation by its ID,
// also after a limit was changed.
func TestCommitByID(t *testing.T) {
	shared := memstore.New(memstore.WithClock(newHands().Now))
	one := open(t, compile(t, perUser("a", "fixed_window 100/h")), shared)
	other := open(t, compile(t, perUser("a", "fixed_window 200/h"), perUser("b", "100/h")), shared)
	res := reserve(t, one, "ann", 40)
	if err := other.Commit(t.Context(), from("ann"), res.ID, 5); err != nil {
		t.Error(err)
	}
	if got := left(t, one); got != 94 {
		t.Errorf("left %d", got)
	}
	if err := other.Commit(t.Context(), from("ann"), res.ID, 5); !errors.Is(err, sluice.ErrSettled) {
		t.Errorf("again: %v", err)
	}
	if err := res.Commit(t.Context(), 5); !errors.Is(err, sluice.ErrSettled) {
		t.Errorf("by the reservation: %v", err)
	}
	if err := other.Commit(t.Context(), from("ann"), "", 5); !errors.Is(err, store.ErrID) {
		t.Errorf("no ID: %v", err)
	}
}

// TestReserveWithoutRules: there is nothing to settle, once.
func TestReserveWithoutRules(t *testing.T) {
	e := open(t, compile(t), nil)
	res := reserve(t, e, "ann", 5)
	if err := res.Commit(t.Context(), 5); err != nil || !res.OK() {
		t.Error(err)
	}
	if err := res.Commit(t.Context(), 5); !errors.Is(err, sluice.ErrSettled) {
		t.Error(err)
	}
	if err := e.Commit(t.Context(), from("ann"), "id", 5); err != nil {
		t.Error(err)
	}
}

// TestReserveInOutage: what was let through without a store has nothing to settle; what
// a store had can be tried again.
func TestReserveInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &asked{Store: memstore.New()}
		e, err := engine.New(compile(t, onError(perUser("a", "100/h"), rule.ErrorAllow)), shared)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		good := reserve(t, e, "ann", 40)
		works := shared.Store
		shared.Store = broken{errDown}
		blind := reserve(t, e, "ann", 40)
		if err := blind.Commit(t.Context(), 1); !blind.Degraded || err != nil {
			t.Errorf("%s: %v", said(blind.Decision), err)
		}
		if err := good.Commit(t.Context(), 1); !errors.Is(err, sluice.ErrUnavailable) {
			t.Errorf("store is down: %v", err)
		}
		shared.Store = works
		time.Sleep(time.Second) // whatever the breaker thinks
		if err := good.Commit(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if got := left(t, e); got != 98 {
			t.Errorf("left %d", got)
		}
	})
}

// TestResetAndRefund in all stores.
func TestResetAndRefund(t *testing.T) {
	e := open(t, compile(t, perUser("a", "10/h", "instance: fixed_window 10/h"), withCandidate(mode(perUser("b", "10/h"), rule.Shadow), "5/h")), nil, engine.WithClock(newHands().Now))
	fresh, err := e.Explain(t.Context(), from("ann"))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		check(t, e, from("ann"))
	}
	if err := e.Refund(t.Context(), from("ann"), 3); err != nil || left(t, e) != 8 {
		t.Errorf("refund: %v, left %d", err, left(t, e))
	}
	if err := e.Refund(t.Context(), from("ann"), -1); !errors.Is(err, sluice.ErrCost) {
		t.Errorf("negative refund: %v", err)
	}
	if err := e.Reset(t.Context(), from("ann")); err != nil {
		t.Error(err)
	}
	x, err := e.Explain(t.Context(), from("ann"))
	if err != nil || states(x) != states(fresh) {
		t.Errorf("reset: %v\n%s", err, states(x))
	}
}
