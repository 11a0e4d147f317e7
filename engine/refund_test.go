package engine_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestRefundOfShadow: limits that are not enforced get back what a request gave them,
// and never more than counts. That one gave nothing is known only to Reserve.
func TestRefundOfShadow(t *testing.T) {
	rec := &recorder{}
	e := open(t, compile(t,
		withCandidate(perUser("hard", "fixed_window 9/h"), "fixed_window 1/h"),
		mode(perUser("soft", "fixed_window 1/h"), rule.Shadow),
	), nil, engine.WithClock(newHands().Now), engine.WithObserver(rec))
	refund := func(cost int64) {
		t.Helper()
		if err := e.Refund(t.Context(), from("ann"), cost); err != nil {
			t.Fatal(err)
		}
	}
	passes := []string{"hard|ann, enforced, allowed, candidate allows, spent", "soft|ann, allowed, spent"}
	fails := []string{"hard|ann, enforced, allowed, candidate denies, spent", "soft|ann"}
	for range 3 {
		expect(t, check(t, e, from("ann")), "allowed by hard left 8")
		rec.expect(t, passes...)
		refund(1)
	}
	refund(5) // there is nothing left to give back
	expect(t, check(t, e, from("ann")), "allowed by hard left 8")
	rec.expect(t, passes...)
	check(t, e, from("ann"))
	rec.expect(t, fails...)
	refund(1) // of the second, which the others were not charged for
	check(t, e, from("ann"))
	rec.expect(t, passes...)

	res, err := e.Reserve(t.Context(), from("ann"))
	if err != nil || !res.OK() {
		t.Fatal(res, err)
	}
	rec.expect(t, fails...)
	res.Cancel()
	check(t, e, from("ann"))
	rec.expect(t, fails...) // one that gave nothing got nothing back
}

// TestResetOfShadow: everything is forgotten, enforced or not.
func TestResetOfShadow(t *testing.T) {
	rec := &recorder{}
	clock := newHands()
	e := open(t, compile(t, mode(perUser("soft", "fixed_window 1/h"), rule.Shadow)), nil, engine.WithClock(clock.Now), engine.WithObserver(rec))
	for range 2 {
		check(t, e, from("ann"))
		rec.expect(t, "soft|ann, allowed, spent")
		if err := e.Reset(t.Context(), from("ann")); err != nil {
			t.Fatal(err)
		}
		clock.move(time.Second)
	}
}
