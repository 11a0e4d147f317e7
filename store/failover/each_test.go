package failover_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

const (
	local = failover.Local
	allow = failover.Allow
	deny  = failover.Deny
)

// asked is a check of a call, and what becomes of it in an outage.
type asked struct {
	policy  failover.Policy
	cost    int64
	shadow  bool
	allowed bool // what it is told
	spent   bool // in the local store
}

// outages are calls whose checks have several policies, each of a key of its own that
// has ten.
var outages = map[string][]asked{
	"all pass":                   {{local, 1, false, true, true}, {allow, 1, false, true, false}, {local, 1, false, true, true}},
	"one policy denies":          {{local, 1, false, true, false}, {deny, 1, false, false, false}, {allow, 1, false, true, false}},
	"the local store denies":     {{local, 1, false, true, false}, {allow, 1, false, true, false}, {local, 11, false, false, false}},
	"a limit never admits":       {{allow, 11, false, false, false}, {local, 1, false, true, false}},
	"all deny":                   {{deny, 1, false, false, false}, {local, 11, false, false, false}},
	"a shadow under deny":        {{local, 1, false, true, true}, {deny, 1, true, false, false}, {local, 1, true, true, true}},
	"a shadow is denied locally": {{local, 1, false, true, true}, {local, 11, true, false, false}, {allow, 1, true, true, false}},
	"a shadow beside a denial":   {{deny, 1, false, false, false}, {local, 1, true, true, false}, {local, 11, true, false, false}},
	"a shadow beside allow":      {{allow, 1, false, true, false}, {local, 1, true, true, true}},
	"nothing but shadows":        {{deny, 1, true, false, false}, {local, 11, true, false, false}, {local, 1, true, true, true}},
}

// TestTakeEach: in an outage every check is decided by its own policy, and nothing is
// spent if one is denied that is no shadow.
func TestTakeEach(t *testing.T) {
	tenPermits := must(algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: 10}))
	for name, call := range outages {
		for _, op := range []store.Op{store.Spend, store.Reserve, store.Acquire} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.main.set(errReset, 0, false)
				peek, spec := store.Spend, ten
				if op == store.Acquire {
					peek, spec = op, tenPermits
				}
				var checks []store.Check
				var each []failover.Policy
				for i, a := range call {
					c := store.Check{Key: string(rune('a' + i)), Spec: spec, Cost: a.cost, ID: "id", Hold: second, Shadow: a.shadow}
					checks, each = append(checks, c), append(each, a.policy)
				}
				if err := w.store.TakeEach(t.Context(), op, checks, each); err != nil {
					t.Fatal(err)
				}
				for i, a := range call {
					c := checks[i]
					if c.Verdict.Allowed != a.allowed || !c.Degraded || c.Blind != (a.policy != local) {
						t.Errorf("%s, operation %d, check %d: %+v", name, op, i, c)
					}
					left, want := w.take(w.local, peek, store.Check{Key: c.Key, Spec: spec, ID: "peek", Hold: 1}), int64(10)
					if a.spent {
						want = 9
					}
					if got := spec.Remaining(left.Verdict); got != want {
						t.Errorf("%s, operation %d, check %d: %d left locally, want %d", name, op, i, got, want)
					}
				}
			})
		}
	}
}

// TestTakeEachOfAShare: the local store may be one that divides limits.
func TestTakeEachOfAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.main.set(errReset, 0, false)
		share := split.New(memstore.New(), split.Fixed{Rank: 0, Live: 2})
		s := must(failover.New(w.main, share, failover.Direct()))
		checks := []store.Check{{Key: "a", Spec: ten, Cost: 1}, {Key: "b", Spec: ten, Cost: 1}}
		for _, second := range []failover.Policy{deny, allow} {
			if err := s.TakeEach(t.Context(), store.Spend, checks, []failover.Policy{local, second}); err != nil {
				t.Fatal(err)
			}
			if !checks[0].Verdict.Allowed || checks[1].Verdict.Allowed != (second == allow) {
				t.Errorf("%v: %+v", second, checks)
			}
		}
		if left := ten.Remaining(w.take(share, store.Spend, store.Check{Key: "a", Spec: ten}).Verdict); left != 4 {
			t.Errorf("%d left of a share of five, want 4", left)
		}
	})
}

// TestTakeEachInOrder: while the main store is well it decides, and only what has the
// policy Local is remembered for an outage: what was spent, and no shadow that was not.
func TestTakeEachInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		checks := []store.Check{
			{Key: "a", Spec: ten, Cost: 1},
			{Key: "b", Spec: ten, Cost: 1},
			{Key: "c", Spec: ten, Cost: 11, Shadow: true},
			{Key: "d", Spec: ten, Cost: 1, Shadow: true},
		}
		if err := w.store.TakeEach(t.Context(), store.Spend, checks, []failover.Policy{local, deny, local, local}); err != nil {
			t.Fatal(err)
		}
		for _, op := range []store.Op{store.Reserve, store.Commit} {
			settled := []store.Check{
				{Key: "e", Spec: ten, Cost: 2, ID: "id", Hold: second}, {Key: "f", Spec: ten, Cost: 2, ID: "id", Hold: second},
			}
			if err := w.store.TakeEach(t.Context(), op, settled, []failover.Policy{local, allow}); err != nil {
				t.Fatal(err)
			}
		}
		for key, want := range map[string]int64{"a": 9, "b": 10, "c": 10, "d": 9, "e": 8, "f": 10} {
			c := w.take(w.local, store.Spend, store.Check{Key: key, Spec: ten})
			if left := ten.Remaining(c.Verdict); left != want {
				t.Errorf("%s: %d left locally, want %d", key, left, want)
			}
		}
		for _, open := range []bool{false, true} {
			if open {
				w.open()
			}
			if err := w.store.TakeEach(t.Context(), store.Spend, checks, []failover.Policy{local}); !errors.Is(err, failover.ErrPolicies) {
				t.Errorf("one policy for four checks: %v", err)
			}
			if err := w.store.TakeEach(t.Context(), store.Spend, nil, nil); err != nil {
				t.Errorf("no checks: %v", err)
			}
		}
		w.heal()
	})
}

// TestSettleEach: what was taken under several policies is settled where it is.
func TestSettleEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		each := []failover.Policy{allow, local, deny}
		take := func(op store.Op, checks ...store.Check) []store.Check {
			t.Helper()
			if err := w.store.TakeEach(t.Context(), op, checks, each[:len(checks)]); err != nil {
				t.Fatal(err)
			}
			return checks
		}
		left := func() int64 {
			return ten.Remaining(w.take(w.local, store.Spend, store.Check{Key: "b", Spec: ten}).Verdict)
		}
		w.main.set(errReset, 0, false)
		reserved := take(store.Reserve,
			store.Check{Key: "a", Spec: ten, Cost: 4, ID: "id", Hold: 3600 * second},
			store.Check{Key: "b", Spec: ten, Cost: 4, ID: "id", Hold: 3600 * second},
			store.Check{Key: "c", Spec: ten, Cost: 4, ID: "id", Hold: 3600 * second, Shadow: true})
		if left() != 6 || reserved[2].Verdict.Allowed {
			t.Errorf("%d left after a reservation, want 6: %+v", left(), reserved)
		}
		for i := range reserved {
			reserved[i].Cost = 1
		}
		for i, c := range take(store.Commit, reserved...) {
			if c.Verdict.Allowed != (i == 1) {
				t.Errorf("settled %d: %v", i, c.Verdict.Allowed)
			}
		}
		if left() != 9 {
			t.Errorf("%d left after 4 turned out to be 1, want 9", left())
		}
		leased := take(store.Lease, store.Check{Key: "a", Spec: ten, Cost: 5, Want: 5}, store.Check{Key: "b", Spec: ten, Cost: 5, Want: 5})
		w.main.set(nil, 0, false)
		w.take(w.main.Store, store.Spend, store.Check{Key: "b", Spec: ten, Cost: 5})
		ours := take(store.Lease, store.Check{Key: "a", Spec: ten, Cost: 2, Want: 2})[0]
		take(store.Return, leased...)
		if leased[0].Verdict.Allowed || !leased[0].Blind {
			t.Errorf("returned what nobody has: %+v", leased[0])
		}
		if there := w.take(w.main.Store, store.Spend, store.Check{Key: "b", Spec: ten}); left() != 9 || ten.Remaining(there.Verdict) != 5 {
			t.Errorf("%d left here after all was returned, want 9; %+v there", left(), there.Verdict)
		}
		w.main.set(errReset, 0, false)
		leased[1].Cost = 0
		both := []store.Check{leased[1], ours}
		if err := w.store.TakeEach(t.Context(), store.Return, both, []failover.Policy{local, allow}); err != nil {
			t.Fatal(err)
		}
		if both[0].Blind || both[1].Verdict.Allowed || !both[1].Degraded || !both[1].Blind {
			t.Errorf("returned in an outage: %+v", both)
		}
	})
}

// TestLogSeveral: the log tells that there is more than one policy.
func TestLogSeveral(t *testing.T) {
	for want, each := range map[string][]failover.Policy{
		"policy=several": {local, deny}, "policy=allow": {allow, allow},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			w := newWorld(t, failover.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			w.main.set(errReset, 0, false)
			checks := []store.Check{{Key: "a", Spec: ten, Cost: 1}, {Key: "b", Spec: ten, Cost: 1}}
			if err := w.store.TakeEach(t.Context(), store.Spend, checks, each); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is missing:\n%s", want, log.String())
			}
		})
	}
}
