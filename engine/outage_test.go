package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

func onError(r rule.Rule, what rule.OnStoreError) rule.Rule {
	r.OnStoreError = what
	return r
}

var errDown = errors.New("down")

// TestPolicies: every rule has its own answer to a store that is down.
func TestPolicies(t *testing.T) {
	local, allow, deny := perUser("local", "2/m"), onError(perUser("allow", "1/m"), rule.ErrorAllow), onError(perUser("deny", "1/m"), rule.ErrorDeny)
	for _, c := range []struct {
		name  string
		rules []rule.Rule
		want  []string
	}{
		{"local", []rule.Rule{local}, []string{
			"allowed by local left 1 degraded", "allowed by local left 0 degraded", "denied limited by local left 0 retry 30s degraded",
		}},
		{"allow", []rule.Rule{allow}, []string{
			"allowed by allow left 0 degraded", "allowed by allow left 0 degraded", "allowed by allow left 0 degraded",
		}},
		{"deny", []rule.Rule{deny}, []string{"denied unavailable by deny retry 500ms degraded"}},
		{"local and allow", []rule.Rule{allow, local}, []string{
			"allowed by allow left 0 degraded", "allowed by allow left 0 degraded", "denied limited by local left 0 retry 30s degraded",
		}},
		{"all", []rule.Rule{local, allow, deny}, []string{
			"denied unavailable by deny retry 500ms degraded", "denied unavailable by deny retry 500ms degraded", "denied unavailable by deny retry 500ms degraded",
		}},
		{"deny in shadow", []rule.Rule{local, mode(deny, rule.Shadow)}, []string{
			"allowed by local left 1 degraded", "allowed by local left 0 degraded", "denied limited by local left 0 retry 30s degraded",
		}},
	} {
		for _, before := range []bool{false, true} { // the store was given a failover before
			t.Run(fmt.Sprintf("%s, before=%v", c.name, before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					given := store.Store(broken{errDown})
					if before {
						fail := wrapped(t, given)
						defer fail.Close()
						given = fail
					}
					e, err := engine.New(compile(t, c.rules...), given)
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					for _, want := range c.want {
						expect(t, check(t, e, from("ann")), want)
					}
				})
			})
		}
	}
}

// TestBlindIsNoMeasurement: in an outage, what a policy says of limits that are not
// enforced says nothing of them, so that no figure holds it.
func TestBlindIsNoMeasurement(t *testing.T) {
	for _, policy := range []rule.OnStoreError{rule.ErrorDeny, rule.ErrorAllow} {
		synctest.Test(t, func(t *testing.T) {
			hard := onError(withCandidate(perUser("hard", "5/m"), "1/m"), rule.ErrorAllow)
			soft := onError(mode(perUser("soft", "instance: 9/m", "1/m"), rule.Shadow), policy)
			rec := &recorder{}
			e, err := engine.New(compile(t, hard, soft), broken{errDown}, engine.WithObserver(rec))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for range 3 {
				expect(t, check(t, e, from("ann")), "allowed by hard left 0 degraded")
			}
			rec.expect(t, "hard|ann, enforced, allowed, spent, degraded", "soft|ann, allowed, undecided, degraded")
			s := e.Stats()
			if r := s.Rules[1]; r.ShadowDenied != 0 || r.Undecided != 3 || r.CostAdmitted != 0 {
				t.Errorf("in shadow: %+v", r)
			}
			if s.Shadow != 0 || s.Rules[0].CandidateDenied != 0 || len(e.Recent(9)) != 0 {
				t.Errorf("%+v, recent %v", s, e.Recent(9))
			}
		})
	}
}

func wrapped(t *testing.T, s store.Store) *failover.Store {
	t.Helper()
	fail, err := failover.New(s, memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	return fail
}

// TestShareInOutage: with an instance, the policy local is its share.
func TestShareInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(compile(t, perUser("a", "10/m")), broken{errDown}, engine.WithInstance(split.Fixed{Live: 5}))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		expect(t, check(t, e, from("ann")), "allowed by a left 1 degraded")
		expect(t, check(t, e, from("ann")), "allowed by a left 0 degraded")
		if d := check(t, e, from("ann")); d.Allowed {
			t.Error("a third of two")
		}
	})
}

// TestFaultsInOutage: faults of the input are no way round a limit.
func TestFaultsInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(compile(t, onError(perUser("a", "10/m"), rule.ErrorAllow)), broken{errDown})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		r := from("ann")
		r.Cost = 2e15
		if d, err := e.Check(t.Context(), r); !errors.Is(err, store.ErrCost) || d.Allowed {
			t.Errorf("%s, error %v", said(d), err)
		}
	})
}

// TestWarnings: what the store says is logged, at most once a second.
func TestWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e, err := engine.New(compile(t, perUser("a", "10/m")), broken{store.ErrFull}, engine.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for range 5 {
			for range 10 {
				if _, err := e.Check(t.Context(), from("ann")); err == nil {
					t.Fatal("no error")
				}
			}
			time.Sleep(400 * time.Millisecond)
		}
		if n := strings.Count(log.String(), "could not decide"); n != 2 {
			t.Errorf("%d lines in 2 seconds:\n%s", n, &log)
		}
	})
}

// noted is a store that is down for a while, and then remembers what it is asked.
type noted struct {
	mu   sync.Mutex
	back store.Store // nil while it is down
	ops  []store.Op
}

func (n *noted) set(s store.Store) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.back = s
}

func (n *noted) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.back == nil {
		return errDown
	}
	n.ops = append(n.ops, op)
	return n.back.Take(ctx, op, checks)
}

// TestLeavesAfterOutage: what was spent without the store is not refunded by it, when it
// is back before the one who waits has left.
func TestLeavesAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		main := &noted{}
		e, err := engine.New(compile(t, waits(perUser("book", "leaky_bucket 1/m burst=5"), time.Hour), perUser("count", "fixed_window 10/h")), main)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		check(t, e, from("ann"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(time.Second, func() {
			main.set(memstore.New())
			cancel()
		})
		if _, err := e.Wait(ctx, from("ann")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		main.mu.Lock()
		defer main.mu.Unlock()
		if slices.Contains(main.ops, store.Refund) {
			t.Errorf("operations %v", main.ops)
		}
	})
}

// TestChangeInOutage: who resets or refunds while the store is down hears that nothing
// came of it, whatever the policy; limits of this instance are changed all the same.
func TestChangeInOutage(t *testing.T) {
	for _, policy := range []rule.OnStoreError{rule.ErrorLocal, rule.ErrorAllow, rule.ErrorDeny} {
		synctest.Test(t, func(t *testing.T) {
			works := memstore.New()
			shared := &noted{back: works}
			e, err := engine.New(compile(t, onError(perUser("a", "fixed_window 100/h", "instance: fixed_window 100/h"), policy)), shared)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for range 10 {
				check(t, e, from("ann"))
			}
			for range 2 { // when it fails, and when it is known to be down
				shared.set(nil)
				for verb, err := range map[string]error{"refund": e.Refund(t.Context(), from("ann"), 3), "reset": e.Reset(t.Context(), from("ann"))} {
					if !errors.Is(err, sluice.ErrUnavailable) || !strings.HasPrefix(err.Error(), "engine: "+verb+": rule a: ") {
						t.Errorf("%s: %s: %v", policy, verb, err)
					}
				}
				time.Sleep(600 * time.Millisecond)
			}
			shared.set(works)
			time.Sleep(time.Second)
			if got := spent(t, e); got != "a 10 a 0 " {
				t.Errorf("%s: spent %s", policy, got)
			}
			if err := e.Refund(t.Context(), from("ann"), 3); err != nil || spent(t, e) != "a 7 a 0 " {
				t.Errorf("%s: refund: %v, spent %s", policy, err, spent(t, e))
			}
			if err := e.Reset(t.Context(), from("ann")); err != nil || spent(t, e) != "a 0 a 0 " {
				t.Errorf("%s: reset: %v, spent %s", policy, err, spent(t, e))
			}
		})
	}
}
