package rls_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/rls"
	"github.com/sluice-limiter/sluice/store"
)

// diary is a store that notes what it is asked.
type diary struct {
	store.Store
	steps []string
}

func (d *diary) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	costs := []int64{}
	for i := range checks {
		costs = append(costs, checks[i].Cost)
	}
	verb := map[store.Op]string{store.Spend: "spend", store.Refund: "refund"}[op]
	d.steps = append(d.steps, fmt.Sprint(verb, costs))
	return d.Store.Take(ctx, op, checks)
}

// TestOverridesAreOneStep: limits of the request itself are all taken or none, and nobody
// can see them taken and given back. With rules beside them, the rules are looked at
// first, so that a call that these refuse touches nothing else.
func TestOverridesAreOneStep(t *testing.T) {
	w := &world{t: t, now: start}
	own := &diary{Store: w.memory()}
	s := w.open(t, mixed, w.memory(), rls.Options{Overrides: func() (store.Store, error) { return own, nil }})
	day := func(n uint32, text string) *ratelimitv3.RateLimitDescriptor {
		return override(n, typev3.RateLimitUnit_DAY, 0, d(text))
	}
	for _, step := range []struct {
		name  string
		all   []*ratelimitv3.RateLimitDescriptor
		ok    bool
		left  []int64
		steps []string
	}{
		{"two", []*ratelimitv3.RateLimitDescriptor{day(3, "x=1"), hits(2, day(5, "x=2"))}, true, []int64{2, 3}, []string{"spend[1 2]"}},
		{"one refuses", []*ratelimitv3.RateLimitDescriptor{day(3, "x=1"), hits(4, day(5, "x=2"))}, false, []int64{2, 3}, []string{"spend[1 4]"}},
		{"the same twice", []*ratelimitv3.RateLimitDescriptor{day(3, "x=1"), day(3, "x=1")}, true, []int64{1, 0}, []string{"spend[1 1]"}},
		{"two looks", []*ratelimitv3.RateLimitDescriptor{hits(0, day(3, "x=1")), hits(0, day(5, "x=2"))}, false, []int64{0, 3}, []string{"spend[0 0]"}},
		{"two refunds", []*ratelimitv3.RateLimitDescriptor{refund(1, day(3, "x=1")), refund(1, day(5, "x=2"))}, true, []int64{1, 4}, []string{"refund[1 1]", "spend[0 0]"}},
		{"with a rule", []*ratelimitv3.RateLimitDescriptor{day(3, "x=1"), hits(5, d("a=1"))}, true, []int64{0, 0}, []string{"spend[1]"}},
		{"with a rule that refuses", []*ratelimitv3.RateLimitDescriptor{day(5, "x=2"), d("a=1")}, false, []int64{4, 0}, []string{"spend[0]"}},
		{"with a rule, and refuses", []*ratelimitv3.RateLimitDescriptor{hits(9, day(5, "x=2")), d("b=1")}, false, []int64{4, 3}, []string{"spend[9]"}},
	} {
		own.steps = nil
		r, err := s.ShouldRateLimit(t.Context(), request("d", step.all...))
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if !slices.Equal(own.steps, step.steps) {
			t.Errorf("%s: steps %q, want %q", step.name, own.steps, step.steps)
		}
		w.want(r, step.ok, step.left...)
		if t.Failed() {
			t.Fatal(step.name)
		}
	}
}

// TestOverrideCalendars: a day begins at midnight of the zone, also half a year after the
// first was laid out, when that is another hour.
func TestOverrideCalendars(t *testing.T) {
	w := newWorld(t, basic, rls.Options{Zone: "Europe/Berlin"})
	one := override(1, typev3.RateLimitUnit_DAY, 0, d("user=ann"))
	winter := time.Date(start.Year()+1, 1, 10, 12, 0, 0, 0, time.UTC)
	summer := time.Date(start.Year()+1, 7, 10, 23, 30, 0, 0, time.UTC) // half past one
	for _, at := range []time.Time{winter, summer, summer.Add(23 * time.Hour)} {
		w.pass(at.Sub(w.clock()))
		w.want(w.ask(one), true, 0)
		w.want(w.ask(one), false, 0)
	}
}

// TestOverridesAreNoRules: whatever rules are called and clients send, they have budgets of
// their own.
func TestOverridesAreNoRules(t *testing.T) {
	w := newWorld(t, basic, rls.Options{}, rule.Rule{
		Name: "override", Key: []string{"attribute:a", "attribute:b", "attribute:c"}, Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 1/m")}},
	})
	w.want(w.ask(override(1, typev3.RateLimitUnit_MINUTE, 0, d("user=ann"))), true, 0)
	request := engine.Request{Attributes: map[string]string{"a": "1:d", "b": "4:user", "c": "3:ann"}}
	if decision, err := w.engine.Check(t.Context(), request); err != nil || !decision.Allowed {
		t.Error(decision, err)
	}
}
