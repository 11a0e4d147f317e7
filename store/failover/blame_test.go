package failover_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// picky is a store that is well, but for some keys.
type picky struct {
	store.Store
	bad    map[string]error
	asleep bool // does not look at its context
}

func (p picky) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if !p.asleep && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := p.bad[checks[0].Key]; err != nil {
		return err
	}
	return p.Store.Take(ctx, op, checks)
}

func (w *world) ask(s store.Store, key string) store.Check {
	w.t.Helper()
	return w.take(s, store.Spend, store.Check{Key: key, Spec: ten})
}

// TestOneBadKey: a value that cannot be read puts its own key under the policy, and no
// other, however often it is asked for.
func TestOneBadKey(t *testing.T) {
	for _, cause := range []error{redisstore.ErrState, redisstore.ErrVersion, store.ErrState} {
		for _, opts := range [][]failover.Option{nil, {failover.Direct()}} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				bad := map[string]error{"bad": fmt.Errorf("key: %w", cause)}
				s := must(failover.New(picky{w.main, bad, false}, w.local, opts...))
				defer s.Close()
				for range 100 {
					if c := w.ask(s, "bad"); !c.Verdict.Allowed || !c.Degraded {
						t.Fatalf("%v: the policy did not decide: %+v", cause, c)
					}
					time.Sleep(20 * time.Millisecond)
				}
				if c := w.ask(s, "good"); c.Degraded || s.Stats().Opened > 0 {
					t.Errorf("%v: %+v, %+v", cause, c, s.Stats())
				}
			})
		}
	}
}

// TestProbeMovesOn: if something unknown is wrong with one key and that opens the
// breaker, the key does not keep it open.
func TestProbeMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := must(failover.New(picky{w.main, map[string]error{"bad": errReset}, false}, w.local))
		defer s.Close()
		for !s.Stats().Open {
			w.ask(s, "bad")
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if c := w.ask(s, "good"); c.Degraded {
			t.Error("still open")
		}
	})
}

// TestAsleep: of a store that never looks at its context all answers count, so that a
// few failures among many do not open the breaker; but all do.
func TestAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := must(failover.New(picky{memstore.New(), map[string]error{"bad": errReset}, true}, w.local, failover.Direct()))
		defer s.Close()
		for range 100 {
			w.ask(s, "bad")
			for range 3 {
				w.ask(s, "good")
			}
			time.Sleep(20 * time.Millisecond)
		}
		if s.Stats().Opened > 0 {
			t.Error("opened by one in four")
		}
		begin := time.Now()
		for !s.Stats().Open {
			w.ask(s, "bad")
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("opened after %v", took)
		}
	})
}

// TestRareFailures: two with a success and much time between them are not two in a row.
func TestRareFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.store.Close()
		w.main.set(errReset, 0, false)
		w.spend(w.store)
		w.main.set(nil, 0, false)
		time.Sleep(500 * time.Millisecond)
		w.spend(w.store)
		time.Sleep(10 * time.Minute)
		w.main.set(errReset, 0, false)
		w.spend(w.store)
		if w.store.Stats().Opened > 0 {
			t.Error("opened by two failures in ten minutes")
		}
	})
}

// TestTooMany: more checks than the store carries are the caller's fault.
func TestTooMany(t *testing.T) {
	main := picky{memstore.New(), map[string]error{"many": fmt.Errorf("redisstore: %w", redisstore.ErrTooMany)}, false}
	s := must(failover.New(main, memstore.New())).WithPolicy(failover.Allow)
	err := s.Take(t.Context(), store.Spend, []store.Check{{Key: "many", Spec: ten, Cost: 1}})
	if !errors.Is(err, redisstore.ErrTooMany) || s.Stats().Degraded > 0 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}
