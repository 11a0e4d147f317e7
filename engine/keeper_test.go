package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// trouble is a remote store that can be made to fail, and to be slow with renewals.
type trouble struct {
	store.Store
	down   atomic.Bool
	slow   time.Duration // of a Renew
	renews atomic.Int64  // checks
	calls  atomic.Int64  // of Renew
	lost   atomic.Int64  // checks of a Renew that came too late

	failing atomic.Int64 // how many renewals are still to fail
}

func (s *trouble) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if s.down.Load() {
		return errDown
	}
	if op == store.Renew {
		s.calls.Add(1)
		s.renews.Add(int64(len(checks)))
		time.Sleep(s.slow)
		if s.failing.Add(-1) >= 0 {
			return errDown
		}
	}
	err := s.Store.Take(ctx, op, checks)
	for i := range checks {
		if op == store.Renew && err == nil && !checks[i].Verdict.Allowed {
			s.lost.Add(1)
		}
	}
	return err
}

// HonorsContext implements [store.Prompt].
func (*trouble) HonorsContext() bool { return true }

// TestPermitsAreRenewed: who takes long keeps its permit, one goroutine renews those of
// all, many in a call, and nobody renews what is held no more.
func TestPermitsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &trouble{Store: memstore.New()}
		e, other := open(t, compile(t, perUser("reports", "concurrency 40")), s), open(t, compile(t, perUser("reports", "concurrency 40")), s)
		var entries []engine.Entry
		for range 40 {
			entries = append(entries, enter(t, e, from("ann")))
		}
		time.Sleep(10*time.Minute + 5*time.Second) // between two renewals
		expect(t, enter(t, other, from("ann")).Decision, "denied limited by reports left 0")
		if calls, renews := s.calls.Load(), s.renews.Load(); calls < 80 || calls > 110 || renews != 40*calls {
			t.Errorf("%d permits were renewed in %d calls", renews, calls)
		}
		for _, entry := range entries {
			entry.Leave()
		}
		before := s.calls.Load()
		time.Sleep(10 * time.Minute)
		if after := s.calls.Load(); after != before {
			t.Errorf("%d calls to renew nothing", after-before)
		}
		enter(t, e, from("ann"))
		time.Sleep(time.Minute)
		if s.calls.Load() == before {
			t.Error("a permit that was taken later is not renewed")
		}
	})
}

// TestCrashedHolder: an instance that dies keeps its permits for as long as they live, and
// no longer.
func TestCrashedHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := remote{memstore.New()}
		e, other := open(t, compile(t, perUser("reports", "concurrency 1")), s), open(t, compile(t, perUser("reports", "concurrency 1")), s)
		entry := enter(t, e, from("ann"))
		time.Sleep(time.Hour)
		e.Close() // as good as dead
		time.Sleep(23 * time.Second)
		expect(t, enter(t, other, from("ann")).Decision, "denied limited by reports left 0")
		time.Sleep(7 * time.Second)
		expect(t, enter(t, other, from("ann")).Decision, "allowed by reports left 0")
		entry.Leave() // it was not quite dead, and must not take away what others hold now
		expect(t, check(t, other, from("ann")), "denied limited by reports left 0")
	})
}

// TestCrashedHolderRedis is the same with a real Redis, whose clock is turned.
func TestCrashedHolderRedis(t *testing.T) {
	c, clock := dial(t, redistest.Start(t)), newHands()
	set := compile(t, perUser("reports", "concurrency 2", "fixed_window 1000/h"))
	e := open(t, set, patient(t, onRedis(t, c, redisstore.WithClock(clock.Now))))
	other := open(t, set, patient(t, onRedis(t, c, redisstore.WithClock(clock.Now))))
	enter(t, e, from("ann"))
	entry := enter(t, other, from("ann"))
	expect(t, enter(t, other, from("ann")).Decision, "denied limited by reports left 0")
	entry.Leave()
	expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 0")
	e.Close()
	clock.move(29 * time.Second)
	expect(t, enter(t, other, from("ann")).Decision, "denied limited by reports left 0")
	clock.move(time.Second)
	expect(t, enter(t, other, from("ann")).Decision, "allowed by reports left 1")
	if x, err := other.Explain(t.Context(), from("ann")); err != nil || x.Calls != 2 || x.Rules[0].Limits[1].InFlight != 1 || x.Rules[0].Limits[0].Remaining != 995 {
		t.Errorf("%v: %+v", err, x)
	}
}

// TestLeaveWhileRenewed: who leaves while its permit is renewed is not held up, and the
// permit is given back all the same.
func TestLeaveWhileRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &trouble{Store: memstore.New(), slow: 2 * time.Second}
		e := open(t, compile(t, perUser("reports", "concurrency 1")), patient(t, s))
		entry := enter(t, e, from("ann"))
		time.Sleep(7 * time.Second)
		begin := time.Now()
		entry.Leave()
		if took := time.Since(begin); took != 0 {
			t.Errorf("it took %v to leave", took)
		}
		expect(t, check(t, e, from("ann")), "denied limited by reports left 0")
		time.Sleep(2 * time.Second)
		expect(t, check(t, e, from("ann")), "allowed by reports left 0")
	})
}

// TestForgottenPermits: what the store has forgotten is counted again when it is renewed.
func TestForgottenPermits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := memstore.New()
		e := open(t, compile(t, perUser("reports", "concurrency 2")), remote{mem})
		entry := enter(t, e, from("ann"))
		spec, _ := algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 2})
		if err := mem.Take(t.Context(), store.Reset, []store.Check{{Key: "reports|ann", Spec: spec}}); err != nil {
			t.Fatal(err)
		}
		expect(t, check(t, e, from("ann")), "allowed by reports left 1")
		time.Sleep(11 * time.Second)
		expect(t, check(t, e, from("ann")), "allowed by reports left 0")
		entry.Leave()
		expect(t, check(t, e, from("ann")), "allowed by reports left 1")
	})
}

// TestEnterWithoutStore: while the store is down every rule decides as it says, and when
// the store is back it knows again who is in flight.
func TestEnterWithoutStore(t *testing.T) {
	for _, c := range []struct {
		policy     rule.OnStoreError
		down, back string // the second that enters, and who looks when the store is back
	}{
		{rule.ErrorLocal, "denied limited by reports left 0 degraded", "denied limited by reports left 0"},
		{rule.ErrorAllow, "allowed by reports left 0 degraded", "denied limited by reports left 0"},
		{rule.ErrorDeny, "denied unavailable by reports retry 500ms degraded", "allowed by reports left 0"},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &trouble{Store: memstore.New()}
				e := open(t, compile(t, onError(perUser("reports", "concurrency 1"), c.policy)), s)
				s.down.Store(true)
				first := enter(t, e, from("ann"))
				expect(t, enter(t, e, from("ann")).Decision, c.down)
				time.Sleep(time.Minute)
				s.down.Store(false)
				time.Sleep(time.Minute)
				expect(t, check(t, e, from("ann")), c.back)
				first.Leave()
			})
		})
	}
}

// TestOutageWhileHeld: an outage of a minute changes nothing for who is at work.
func TestOutageWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &trouble{Store: memstore.New()}
		e := open(t, compile(t, perUser("reports", "concurrency 1")), s)
		entry := enter(t, e, from("ann"))
		s.down.Store(true)
		time.Sleep(time.Minute)
		s.down.Store(false)
		time.Sleep(20 * time.Second)
		expect(t, check(t, e, from("ann")), "denied limited by reports left 0")
		entry.Leave()
		expect(t, check(t, e, from("ann")), "allowed by reports left 0")
	})
}

// TestRenewalsFail: a permit outlives three renewals in a row that fail.
func TestRenewalsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &trouble{Store: memstore.New()}
		e := open(t, compile(t, perUser("reports", "concurrency 1")), s)
		s.failing.Store(3)
		entry := enter(t, e, from("ann"))
		time.Sleep(5 * time.Minute)
		if s.failing.Load() > 0 || s.lost.Load() > 0 {
			t.Errorf("%d renewals were not asked for, %d permits were lost", s.failing.Load(), s.lost.Load())
		}
		entry.Leave()
	})
}
