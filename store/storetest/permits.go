package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// permitsOf returns a limit of n in flight.
func permitsOf(t testing.TB, n int64) *algo.Spec {
	return compile(t, algo.Spec{Kind: algo.Concurrency, Count: n})
}

func permit(p *algo.Spec, key, owner string, cost int64) store.Check {
	return store.Check{Key: key, Spec: p, Cost: cost, ID: owner, Hold: 10e6}
}

// testPermits: as many as the limit says are in flight; what is released or has
// expired is free again; and nobody gives back what is not his.
func testPermits(t testing.TB, s *suite) {
	w, p := s.world(t), permitsOf(t, 3)
	allowed := func(op store.Op, c store.Check) bool { return w.take(op, c)[0].Verdict.Allowed }
	if !allowed(store.Acquire, permit(p, "k", "ann", 1)) || !allowed(store.Acquire, permit(p, "k", "bob", 2)) {
		t.Fatal("three permits are not three")
	}
	v := w.take(store.Acquire, permit(p, "k", "cleo", 1))[0].Verdict
	if v.Allowed || v.Never || p.Remaining(v) != 0 || p.RetryAfter(v) != 10e6 {
		t.Errorf("a fourth: %+v, retry after %d", v, p.RetryAfter(v))
	}
	if v := w.take(store.Acquire, permit(p, "k", "cleo", 4))[0].Verdict; v.Allowed || !v.Never {
		t.Errorf("four of three: %+v, want never", v)
	}
	if allowed(store.Release, permit(p, "k", "cleo", 0)) || allowed(store.Renew, permit(p, "k", "cleo", 0)) {
		t.Error("who has none gave one back, or renewed it")
	}
	w.clock.Add(6e6)
	if !allowed(store.Renew, permit(p, "k", "ann", 0)) || !allowed(store.Release, permit(p, "k", "bob", 0)) {
		t.Error("who has some cannot renew, or give back")
	}
	w.clock.Add(6e6)
	if v := w.take(store.Acquire, permit(p, "k", "cleo", 0))[0].Verdict; p.Remaining(v) != 2 {
		t.Errorf("%d remain, want 2: one is renewed", p.Remaining(v))
	}
	w.clock.Add(4e6)
	if v := w.take(store.Acquire, permit(p, "k", "cleo", 0))[0].Verdict; p.Remaining(v) != 3 || allowed(store.Renew, permit(p, "k", "ann", 0)) {
		t.Errorf("%d remain, want 3: all have expired", p.Remaining(v))
	}
	allowed(store.Acquire, permit(p, "k", "dan", 3))
	w.take(store.Reset, store.Check{Key: "k", Spec: p})
	if !allowed(store.Acquire, permit(p, "k", "eve", 3)) {
		t.Error("a reset leaves permits")
	}
}

// testPermitsTogether: permits of several keys are taken all or not at all.
func testPermitsTogether(t testing.TB, s *suite) {
	w, p := s.world(t), permitsOf(t, 1)
	w.take(store.Acquire, permit(p, "b", "ann", 1))
	got := w.take(store.Acquire, permit(p, "a", "bob", 1), permit(p, "b", "bob", 1))
	if !got[0].Verdict.Allowed || got[1].Verdict.Allowed {
		t.Errorf("got %+v, want the second denied", got)
	}
	if v := w.take(store.Acquire, permit(p, "a", "cleo", 1))[0].Verdict; !v.Allowed {
		t.Error("a denied call took a permit")
	}
	err := w.store.Take(context.Background(), store.Spend, []store.Check{permit(p, "a", "", 1)})
	if !errors.Is(err, store.ErrOp) {
		t.Errorf("a permit was spent: %v", err)
	}
}

// testPermitsLikeTheModel sends a random stream into the store and the model.
func testPermitsLikeTheModel(t testing.TB, s *suite) {
	seed := algotest.Seed(t, s.seed)
	r, w := algotest.Rand(seed, 77), s.world(t)
	model := algotest.NewModel(w.now)
	specs := []*algo.Spec{permitsOf(t, 1), permitsOf(t, 5), permitsOf(t, 1000)}
	for step := range min(s.steps, 5000) {
		w.clock.Add(algotest.LogUniform(r, 1e6))
		if r.IntN(50) == 0 {
			for i := range 9 { // what has expired may be forgotten, which a step back would show
				c := []store.Check{permit(specs[i/3], fmt.Sprint("k", i%3), "nobody", 0)}
				w.take(store.Release, c...)
				_ = model.Take(context.Background(), store.Release, c)
			}
			w.clock.Add(-algotest.LogUniform(r, 100e6))
		}
		op := []store.Op{store.Acquire, store.Acquire, store.Acquire, store.Renew, store.Release}[r.IntN(5)]
		var got []store.Check
		for range 1 + r.IntN(3) {
			c := permit(algotest.Pick(r, specs), fmt.Sprint("k", r.IntN(3)), fmt.Sprint("owner ", r.IntN(12)), r.Int64N(4))
			c.Hold = algotest.LogUniform(r, 20e6)
			got = append(got, c)
		}
		shade(r, got)
		want := append([]store.Check(nil), got...)
		if err := errors.Join(w.store.Take(context.Background(), op, got), model.Take(context.Background(), op, want)); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, step, err)
		}
		for i := range got {
			if a, b := answer(op, &got[i]), answer(op, &want[i]); a != b {
				t.Fatalf("seed %d, step %d, operation %d, check %d: got %s, want %s", seed, step, op, i, a, b)
			}
		}
	}
}
