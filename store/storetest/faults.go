package storetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// testFaults: a fault of the input is a typed error, found before anything is
// done, also if the other checks of the call are good.
func testFaults(t testing.TB, s *suite) {
	w := s.world(t)
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 10})
	good := store.Check{Key: "k", Spec: p, Cost: 1, ID: "id", Hold: 1e6}
	for _, c := range []struct {
		name string
		op   store.Op
		edit func(*store.Check)
		want error
	}{
		{"no key", store.Spend, func(c *store.Check) { c.Key = "" }, store.ErrKey},
		{"no key to refund", store.Refund, func(c *store.Check) { c.Key = "" }, store.ErrKey},
		{"no key to reset", store.Reset, func(c *store.Check) { c.Key = "" }, store.ErrKey},
		{"key too long", store.Spend, func(c *store.Check) { c.Key = strings.Repeat("k", store.MaxKey+1) }, store.ErrKey},
		{"negative cost", store.Spend, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"least cost", store.Spend, func(c *store.Check) { c.Cost = math.MinInt64 }, store.ErrCost},
		{"overflowing cost", store.Spend, func(c *store.Check) { c.Cost = algo.MaxCount + 1 }, store.ErrCost},
		{"negative refund", store.Refund, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"negative reservation", store.Reserve, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"negative commit", store.Commit, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"no ID", store.Reserve, func(c *store.Check) { c.ID = "" }, store.ErrID},
		{"no ID to commit", store.Commit, func(c *store.Check) { c.ID = "" }, store.ErrID},
		{"ID too long", store.Reserve, func(c *store.Check) { c.ID = strings.Repeat("i", store.MaxKey+1) }, store.ErrID},
		{"no hold", store.Reserve, func(c *store.Check) { c.Hold = 0 }, store.ErrID},
		{"hold too long", store.Reserve, func(c *store.Check) { c.Hold = store.MaxHold + 1 }, store.ErrID},
		{"unknown operation", 200, func(*store.Check) {}, store.ErrOp},
	} {
		bad := good
		c.edit(&bad)
		for _, checks := range [][]store.Check{{bad}, {good, bad}, {bad, good}} {
			if err := w.store.Take(context.Background(), c.op, checks); !errors.Is(err, c.want) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.want)
			}
		}
	}
	for _, op := range []store.Op{store.Spend, store.Reserve} {
		dark := good
		dark.Shadow = true
		if err := w.store.Take(context.Background(), op, []store.Check{dark, good}); !errors.Is(err, store.ErrOp) {
			t.Errorf("operation %d: a shadow before another check: error %v, want %v", op, err, store.ErrOp)
		}
	}
	w.wantLeft("k", p, 10, "after nothing but faults")
	long := strings.Repeat("k", store.MaxKey)
	if !w.spend(long, p, 10).Allowed || w.left(long, p) != 0 || w.left(long[1:]+"l", p) != 10 {
		t.Errorf("a key of %d bytes is a key like any other", store.MaxKey)
	}
	w.take(store.Spend) // no checks are no fault
}

// testFirstRequest: a key that was never seen has everything, and a cost above all
// that a limit can admit is denied for good.
func testFirstRequest(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		if v := w.spend("a", p, 101); v.Allowed || !v.Never || p.RetryAfter(v) != 0 {
			w.Errorf("cost 101 gets %+v", v)
		}
		w.wantLeft("a", p, 100, "after a cost that never fits")
		if v := w.spend("a", p, 100); !v.Allowed || v.Wait != 0 || p.Remaining(v) != 0 {
			w.Errorf("the first request gets %+v", v)
		}
		if v := w.spend("a", p, 1); v.Allowed || p.RetryAfter(v) == 0 {
			w.Errorf("the request after the last token gets %+v", v)
		}
		w.wantLeft("b", p, 100, "of another key")
	})
	w := s.world(t)
	ban, free := compile(t, algo.Spec{Kind: algo.Ban}), compile(t, algo.Spec{Kind: algo.Unlimited})
	if v := w.spend("a", ban, 1); v.Allowed || !v.Never {
		t.Errorf("ban: %+v", v)
	}
	if v := w.spend("a", free, algo.MaxCount); !v.Allowed {
		t.Errorf("unlimited: %+v", v)
	}
}
