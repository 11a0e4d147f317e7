package engine_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestRecentTellsWhy: what is remembered of a refusal answers who was refused what, by
// which limit, and when it would have passed; also if the refusal was only a shadow.
func TestRecentTellsWhy(t *testing.T) {
	clock := newHands()
	named := perUser("user", "5/m")
	named.Limits[0].Name = "burst"
	e := open(t, compile(t, named, mode(perUser("soft", "fixed_window 4/h"), rule.Shadow)), nil, engine.WithClock(clock.Now))
	r := from("ann")
	r.Path, r.Cost = "/a//b", 3
	expect(t, check(t, e, r), "allowed by user/burst left 2")
	expect(t, check(t, e, r), "denied limited by user/burst left 2 retry 12s")
	r.Cost = 2
	expect(t, check(t, e, r), "allowed by user/burst left 0 shadow")
	want := []engine.Record{
		{
			Shadow: true, Rule: "soft", Limit: "soft", Amount: sluice.MustParse("fixed_window 4/h"), Cost: 2, Remaining: 1,
			Key: "ann", Method: "GET", Path: "/a/b", Reason: sluice.Limited, RetryAfter: time.Hour,
		},
		{
			Rule: "user", Limit: "burst", Amount: sluice.MustParse("5/m"), Cost: 3, Remaining: 2,
			Key: "ann", Method: "GET", Path: "/a/b", Reason: sluice.Limited, RetryAfter: 12 * time.Second,
		},
	}
	for i, got := range e.Recent(10) {
		if i >= len(want) {
			t.Fatalf("one more: %+v", got)
		}
		if got.Amount.String() == want[i].Amount.String() { // its defaults are filled in
			got.Amount = want[i].Amount
		}
		if got.Time = (time.Time{}); got != want[i] {
			t.Errorf("got  %+v\nwant %+v", got, want[i])
		}
	}
	if n := len(e.Recent(10)); n != len(want) {
		t.Errorf("%d records", n)
	}
}
