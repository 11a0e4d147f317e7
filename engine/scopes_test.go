package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestScopes: two instances share what is the cluster's, divide what is split, and have
// the rest each for itself.
func TestScopes(t *testing.T) {
	clock := newHands()
	shared := memstore.New(memstore.WithClock(clock.Now))
	set := compile(t,
		perUser("c", "fixed_window 6/m"),
		perUser("i", "instance: fixed_window 3/m"),
		perUser("s", "split: fixed_window 4/m"),
	)
	var fleet []*engine.Engine
	for rank := range 2 {
		fleet = append(fleet, open(t, set, shared, engine.WithInstance(split.Fixed{Rank: rank, Live: 2})))
	}
	one, other := fleet[0], fleet[1]
	expect(t, check(t, one, from("ann")), "allowed by s left 1")
	expect(t, check(t, one, from("ann")), "allowed by s left 0")
	expect(t, check(t, one, from("ann")), "denied limited by s left 0 retry 1m0s")
	expect(t, check(t, other, from("ann")), "allowed by s left 1") // 3 of the cluster's 6
	if d, err := other.Peek(t.Context(), from("ann")); err != nil || d.Remaining() != 0 {
		t.Errorf("peek: %s, %v", said(d), err)
	}
}

// TestGivenBack: what local limits were charged for a request that a later one denies
// is given back, whether it waits or not and whether it is enforced or not.
func TestGivenBack(t *testing.T) {
	for _, c := range []struct{ name, local string }{
		{"bucket", "instance: 5/m"},
		{"window", "instance: fixed_window 5/m"},
		{"log", "instance: sliding_log 5/m"},
		{"split", "split: fixed_window 10/m"},
		{"queue", "instance: leaky_bucket 1/s burst=5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newHands()
			local := perUser("local", c.local)
			local.Wait = rule.Duration(10 * time.Second)
			soft := mode(perUser("soft", c.local), rule.Shadow)
			soft.Wait = local.Wait
			e := open(t, compile(t, local, withCandidate(perUser("wide", "1/h"), c.local), soft), nil,
				engine.WithClock(clock.Now), engine.WithInstance(split.Fixed{Live: 2}))
			check(t, e, from("ann"))
			before, err := e.Explain(t.Context(), from("ann"))
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				if d := check(t, e, from("ann")); d.Allowed || d.Rule.Name != "wide" {
					t.Fatal(said(d))
				}
			}
			after, err := e.Explain(t.Context(), from("ann"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := states(after), states(before); got != want {
				t.Errorf("after 20 denials\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// asked counts the calls of a store.
type asked struct {
	store.Store
	calls  int
	checks int
}

func (a *asked) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	a.calls++
	a.checks += len(checks)
	return a.Store.Take(ctx, op, checks)
}

// TestOneTake: all limits of all rules are one call; none, if a local limit denies.
func TestOneTake(t *testing.T) {
	clock := newHands()
	shared := &asked{Store: memstore.New(memstore.WithClock(clock.Now))}
	rec := &recorder{}
	e := open(t, compile(t,
		perUser("a", "10/m", "fixed_window 10/h", "instance: 1/m"),
		mode(perUser("b", "10/m"), rule.Shadow),
		withCandidate(perUser("c", "10/m"), "5/m"),
	), shared, engine.WithClock(clock.Now), engine.WithObserver(rec))
	expect(t, check(t, e, from("ann")), "allowed by a left 0")
	if shared.calls != 1 || shared.checks != 5 {
		t.Errorf("%d calls with %d checks, want 1 with 5", shared.calls, shared.checks)
	}
	expect(t, check(t, e, from("ann")), "denied limited by a left 0 retry 1m0s")
	if shared.calls != 1 {
		t.Error("the store was asked after a local denial")
	}
	rec.expect(t, "a|ann, enforced", "b|ann, allowed, undecided", "c|ann, enforced, allowed, undecided")
}

// broken is a store that fails with an error.
type broken struct{ err error }

func (b broken) Take(context.Context, store.Op, []store.Check) error { return b.err }

// TestErrorGivesBack: what cannot be decided is an error and costs nothing.
func TestErrorGivesBack(t *testing.T) {
	clock, rec := newHands(), &recorder{}
	e := open(t, compile(t, perUser("a", "instance: 5/m", "10/m")), broken{store.ErrFull}, engine.WithClock(clock.Now), engine.WithObserver(rec))
	for range 20 {
		_, err := e.Check(t.Context(), from("ann"))
		if !errors.Is(err, store.ErrFull) || !strings.HasPrefix(err.Error(), "engine: check: rule a: ") {
			t.Fatalf("error %v", err)
		}
	}
	rec.expect(t, "a|ann, enforced, allowed, undecided")
	if !errors.Is(rec.err, store.ErrFull) {
		t.Errorf("observed %v", rec.err)
	}
	if err := e.Swap(compile(t, perUser("a", "instance: 5/m"))); err != nil {
		t.Fatal(err)
	}
	expect(t, check(t, e, from("ann")), "allowed by a left 4")
}

// hoarder is a store that is given up on, and looks at the keys only later.
type hoarder struct {
	mu   sync.Mutex
	keys []string
}

func (h *hoarder) Take(ctx context.Context, _ store.Op, checks []store.Check) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range checks {
		h.keys = append(h.keys, checks[i].Key)
	}
	return ctx.Err()
}

// TestKeysOutliveCalls: a store out of this process may hold keys after the call was
// given up.
func TestKeysOutliveCalls(t *testing.T) {
	far := &hoarder{}
	e := open(t, compile(t, perUser("a", "10/m"), mode(perUser("b", "10/m"), rule.Shadow)), far)
	for i := range 100 {
		check(t, e, from(fmt.Sprint("user", i)))
	}
	if len(far.keys) != 200 {
		t.Fatalf("%d keys", len(far.keys))
	}
	for i, key := range far.keys {
		if want := fmt.Sprintf("%c|user%d", "ab"[i%2], i/2); key != want {
			t.Fatalf("key %q became %q", want, key)
		}
	}
}
