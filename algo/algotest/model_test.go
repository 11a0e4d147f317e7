package algotest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

func compile(t *testing.T, p algo.Spec) *algo.Spec {
	t.Helper()
	spec, err := algo.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// bench is a Model with a clock that the test moves.
type bench struct {
	*Model
	t     *testing.T
	clock time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, clock: base}
	b.Model = NewModel(func() time.Time { return b.clock })
	return b
}

func (b *bench) take(op store.Op, checks ...store.Check) []algo.Verdict {
	b.t.Helper()
	if err := b.Take(context.Background(), op, checks); err != nil {
		b.t.Fatal(err)
	}
	var verdicts []algo.Verdict
	for _, c := range checks {
		verdicts = append(verdicts, c.Verdict)
	}
	return verdicts
}

func (b *bench) left(key string, p *algo.Spec) int64 {
	b.t.Helper()
	return p.Remaining(b.take(store.Spend, store.Check{Key: key, Spec: p})[0])
}

func window(t *testing.T, count int64) *algo.Spec {
	return compile(t, algo.Spec{Kind: algo.FixedWindow, Count: count, Period: 60e6})
}

func TestModelRefusesBadInputBeforeItActs(t *testing.T) {
	b, p := newBench(t), window(t, 10)
	good := store.Check{Key: "k", Spec: p, Cost: 3, ID: "id", Hold: 1}
	for _, c := range []struct {
		name string
		op   store.Op
		bad  store.Check
		want error
	}{
		{"empty key", store.Spend, store.Check{Spec: p, Cost: 1}, store.ErrKey},
		{"long key", store.Spend, store.Check{Key: strings.Repeat("k", 1025), Spec: p, Cost: 1}, store.ErrKey},
		{"negative cost", store.Spend, store.Check{Key: "k", Spec: p, Cost: -1}, store.ErrCost},
		{"huge cost", store.Refund, store.Check{Key: "k", Spec: p, Cost: algo.MaxCount + 1}, store.ErrCost},
		{"no ID", store.Reserve, store.Check{Key: "k", Spec: p, Cost: 1, Hold: 1}, store.ErrID},
		{"no hold", store.Reserve, store.Check{Key: "k", Spec: p, Cost: 1, ID: "id"}, store.ErrID},
		{"commit without ID", store.Commit, store.Check{Key: "k", Spec: p, Cost: 1}, store.ErrID},
		{"unknown operation", store.Release + 1, good, store.ErrOp},
	} {
		err := b.Take(context.Background(), c.op, []store.Check{good, c.bad})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if got := b.left("k", p); got != 10 {
		t.Errorf("remaining: got %d, want 10: nothing may be spent", got)
	}
}

func TestModelTakesNoChecks(t *testing.T) {
	b := newBench(t)
	for op := store.Spend; op <= store.Cancel; op++ {
		b.take(op)
	}
}

func TestModelSpendsAllOrNothingOverKeys(t *testing.T) {
	b, p := newBench(t), window(t, 10)
	b.take(store.Spend, store.Check{Key: "full", Spec: p, Cost: 10})
	v := b.take(
		store.Spend,
		store.Check{Key: "a", Spec: p, Cost: 4},
		store.Check{Key: "full", Spec: p, Cost: 1},
		store.Check{Key: "b", Spec: p, Cost: 4},
	)
	if !v[0].Allowed || v[1].Allowed || !v[2].Allowed {
		t.Errorf("each limit by itself: got %v %v %v, want true false true", v[0].Allowed, v[1].Allowed, v[2].Allowed)
	}
	if a, z := b.left("a", p), b.left("b", p); a != 10 || z != 10 {
		t.Errorf("remaining: got %d and %d, want 10 and 10", a, z)
	}
}

func TestModelADeniedPeekDeniesAll(t *testing.T) {
	b, p := newBench(t), window(t, 10)
	b.take(store.Spend, store.Check{Key: "full", Spec: p, Cost: 10})
	b.take(store.Spend, store.Check{Key: "a", Spec: p, Cost: 4}, store.Check{Key: "full", Spec: p})
	if got := b.left("a", p); got != 10 {
		t.Errorf("remaining: got %d, want 10", got)
	}
}

func TestModelADenialWritesOnlyTheCut(t *testing.T) {
	b := newBench(t)
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 10})
	drain := []store.Check{{Key: "x", Spec: p, Cost: 10}, {Key: "y", Spec: p, Cost: 10}, {Key: "z", Spec: p, Cost: 1}}
	b.take(store.Spend, drain...)
	b.clock = base.Add(-time.Hour)
	b.take(store.Spend, store.Check{Key: "x", Spec: p, Cost: 10}, store.Check{Key: "y", Spec: p})
	b.clock = base
	if x, y := b.left("x", p), b.left("y", p); x != 10 || y != 0 {
		t.Errorf("remaining: got %d and %d, want 10 (cut an hour ago) and 0 (only peeked at)", x, y)
	}
}

func TestModelReservationsWithinOneTake(t *testing.T) {
	b, p := newBench(t), window(t, 10)
	check := func(id string, cost int64) store.Check {
		return store.Check{Key: "k", Spec: p, Cost: cost, ID: id, Hold: 1e6}
	}
	b.take(store.Reserve, check("one", 3), check("one", 3), check("two", 2))
	if got := b.left("k", p); got != 5 {
		t.Errorf("remaining: got %d, want 5: the same ID spends once", got)
	}
	v := b.take(store.Reserve, check("three", 4), check("four", 4))
	if !v[0].Allowed || v[1].Allowed {
		t.Errorf("one after the other: got %v %v, want true false", v[0].Allowed, v[1].Allowed)
	}
	v = b.take(store.Commit, check("one", 0), check("one", 0), check("two", 3), check("three", 0))
	for i, want := range []bool{true, false, true, false} {
		if v[i].Allowed != want {
			t.Errorf("commit %d: settled %v, want %v", i, v[i].Allowed, want)
		}
	}
	if got := b.left("k", p); got != 7 {
		t.Errorf("remaining: got %d, want 7", got)
	}
}

func TestModelARepeatedReserveGetsTheFirstAnswer(t *testing.T) {
	b := newBench(t)
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 10})
	c := store.Check{Key: "k", Spec: p, Cost: 10, MaxWait: 1e6, ID: "one", Hold: 1e6}
	b.take(store.Reserve, c)
	c.ID = "two"
	first := b.take(store.Reserve, c)[0]
	if !first.Allowed || first.Wait != 1e6 {
		t.Fatalf("got %+v, want a wait of 1s", first)
	}
	if again := b.take(store.Reserve, c)[0]; again != first {
		t.Errorf("got %+v, want %+v", again, first)
	}
}

func TestModelKeepsNoReferenceToChecks(t *testing.T) {
	b, p := newBench(t), window(t, 10)
	checks := []store.Check{{Key: "k", Spec: p, Cost: 3, ID: "id", Hold: 1e6}}
	b.take(store.Reserve, checks...)
	checks[0] = store.Check{}
	if v := b.take(store.Commit, store.Check{Key: "k", Spec: p, Cost: 1, ID: "id"}); !v[0].Allowed {
		t.Error("got unsettled, want settled")
	}
}

func TestModelConcurrentSafe(t *testing.T) {
	b, p := newBench(t), window(t, 1000)
	var wg sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		wg.Go(func() {
			for range 200 {
				checks := []store.Check{{Key: "k", Spec: p, Cost: 1}}
				if err := b.Take(context.Background(), store.Spend, checks); err != nil {
					t.Error(err)
				}
				if checks[0].Verdict.Allowed {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if admitted != 1000 {
		t.Errorf("admitted %d of 1600, want 1000", admitted)
	}
}
