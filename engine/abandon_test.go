package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// deaf is a store that does what it is asked, and whose answer to the first question of a
// kind never comes.
type deaf struct {
	store.Store
	to   store.Op
	late time.Duration // when the question reaches the server
	done bool
}

func (s *deaf) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if op != s.to || s.done {
		return s.Store.Take(ctx, op, checks)
	}
	s.done = true
	own := slices.Clone(checks)
	time.AfterFunc(s.late, func() { _ = s.Store.Take(context.Background(), op, own) })
	<-ctx.Done()
	return ctx.Err()
}

// HonorsContext implements [store.Prompt].
func (*deaf) HonorsContext() bool { return true }

// TestUnheardGrant: a permit that the store granted, but of which we did not hear because
// the caller had gone, is given back; also if the question reaches the store after that.
func TestUnheardGrant(t *testing.T) {
	for _, late := range []time.Duration{0, 1500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := &deaf{Store: memstore.New(), to: store.Acquire, late: late}
			e := open(t, compile(t, perUser("reports", "concurrency 1")), patient(t, s))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if entry, err := e.Enter(ctx, from("ann")); err == nil {
				t.Errorf("decided: %s", said(entry.Decision))
			}
			time.Sleep(1200 * time.Millisecond)
			expect(t, check(t, e, from("ann")), "allowed by reports left 0")
		})
	}
}

// TestUnheardAndRefused: the same if the answer comes too late and a policy refuses; who is
// let in then by a policy gives back what the store knows, too.
func TestUnheardAndRefused(t *testing.T) {
	for _, policy := range []rule.OnStoreError{rule.ErrorLocal, rule.ErrorAllow, rule.ErrorDeny} {
		for _, late := range []time.Duration{0, 500 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				s := &deaf{Store: memstore.New(), to: store.Acquire, late: late}
				e := open(t, compile(t, onError(perUser("reports", "concurrency 1"), policy)), s)
				entry := enter(t, e, from("ann"))
				if entry.Allowed != (policy != rule.ErrorDeny) || !entry.Degraded {
					t.Errorf("%s: %s", policy, said(entry.Decision))
				}
				time.Sleep(2 * time.Second)
				entry.Leave()
				expect(t, check(t, e, from("ann")), "allowed by reports left 0")
			})
		}
	}
}

// TestLateRelease: who waits for a rate gives its permit back and takes one again when it is
// its turn. That the store hears of the first after the second takes nothing away.
func TestLateRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &deaf{Store: memstore.New(), to: store.Release, late: 12 * time.Second}
		slow := perUser("slow", "sliding_log 1/10s")
		slow.Wait = rule.Duration(time.Minute)
		e := open(t, compile(t, perUser("reports", "concurrency 3"), slow), s)
		defer enter(t, e, from("ann")).Leave()
		second, err := e.EnterWait(t.Context(), from("ann"))
		if err != nil || !second.Allowed {
			t.Fatalf("%v: %s", err, said(second.Decision))
		}
		defer second.Leave()
		time.Sleep(3 * time.Second)
		x, err := e.Explain(t.Context(), from("ann"))
		if err != nil || x.Rules[0].Limits[0].InFlight != 2 {
			t.Errorf("%v: %+v", err, x.Rules[0].Limits)
		}
	})
}

// TestObserverPanics: what nobody will leave is given back.
func TestObserverPanics(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		observer := panics{}
		e := open(t, compile(t, perUser("reports", "concurrency 1")), s, engine.WithObserver(&observer))
		for name, ask := range map[string]func(){
			"Enter":        func() { _, _ = e.Enter(t.Context(), from("ann")) },
			"EnterWait":    func() { _, _ = e.EnterWait(t.Context(), from("ann")) },
			"EnterReserve": func() { _, _ = e.EnterReserve(t.Context(), from("ann")) },
		} {
			observer.now = true
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				ask()
			}()
			observer.now = false
			expect(t, check(t, e, from("ann")), "allowed by reports left 0")
		}
	})
}

type panics struct{ now bool }

func (p *panics) Observe(*engine.Event) {
	if p.now {
		panic("observer")
	}
}
