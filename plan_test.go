package sluice_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestPlansShareNothing asks two equal groups of limits about one key.
func TestPlansShareNothing(t *testing.T) {
	limits := []sluice.Limit{sluice.PerMinute(1), sluice.MustParse("sliding_log 1/m")}
	now := time.Unix(1e9, 0)
	plans, err := sluice.NewPlans(now, limits, limits)
	if err != nil {
		t.Fatal(err)
	}
	s := memstore.New(memstore.WithClock(func() time.Time { return now }))
	ask := func(p *sluice.Plan) (d sluice.Decision) {
		var checks []store.Check
		for _, spec := range p.Specs() {
			checks = append(checks, store.Check{Key: "ann", Spec: spec, Cost: 1})
		}
		if err := s.Take(context.Background(), store.Spend, checks); err != nil {
			t.Fatal(err)
		}
		p.Decide(checks, &d)
		return d
	}
	for i, p := range plans {
		if !ask(p).Allowed {
			t.Errorf("plan %d: the first request is denied: it shares a state with another", i)
		}
		if d := ask(p); d.Allowed || d.RetryAfter() != time.Minute {
			t.Errorf("plan %d: second request: allowed %v, retry after %v", i, d.Allowed, d.RetryAfter())
		} else if d.Limit() != p.Limits()[d.Index()] {
			t.Errorf("plan %d: limit number %d is not %v", i, d.Index(), d.Limit())
		}
	}
}

// TestPlanTellsWhatItIs reads a plan's properties.
func TestPlanTellsWhatItIs(t *testing.T) {
	now := time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC)
	plans, err := sluice.NewPlans(now,
		[]sluice.Limit{sluice.PerSecond(5)},
		[]sluice.Limit{sluice.MustParse("sliding_log 1/s"), sluice.MustParse("sliding_log 10/m")},
		[]sluice.Limit{sluice.PerMonth(5)})
	if err != nil {
		t.Fatal(err)
	}
	bucket, logs, month := plans[0], plans[1], plans[2]
	if !bucket.Books() || logs.Books() {
		t.Errorf("books: bucket %v, logs %v, want true and false", bucket.Books(), logs.Books())
	}
	if len(logs.Specs()) != 1 || len(logs.Limits()) != 2 {
		t.Errorf("two logs make %d specs of %d limits, want 1 of 2", len(logs.Specs()), len(logs.Limits()))
	}
	if !bucket.Until().IsZero() {
		t.Errorf("a plan without a calendar ends at %v", bucket.Until())
	}
	if until := month.Until(); !until.After(now) {
		t.Errorf("the calendar is laid out until %v, which is not after %v", until, now)
	}
	if got := (sluice.Decision{}).Index(); got != -1 {
		t.Errorf("a decision of no plan has the limit %d", got)
	}
	if _, err := sluice.NewPlans(now, []sluice.Limit{{Count: -1}}); err == nil {
		t.Error("an invalid limit makes a plan")
	}
}
