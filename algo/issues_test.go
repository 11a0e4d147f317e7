package algo_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// TestIntervalBookingIsKept: a booking that fits into the limit's maximum wait must
// be spent, also where that wait is no multiple of the interval.
func TestIntervalBookingIsKept(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.IntervalBucket, Count: 1, Period: 10, Burst: 1, MaxWait: 5})
	var s algo.State
	algo.Decide(p, &s, 100, 1, 0)
	if v := algo.Decide(p, &s, 106, 1, 5); !v.Allowed || v.Wait != 4 {
		t.Fatalf("the next step is 4 µs away: %+v", v)
	}
	if v := algo.Decide(p, &s, 106, 1, 5); v.Allowed {
		t.Errorf("the same token was booked twice: %+v", v)
	}
}

// TestCutKeepsTheFractionToo: a denial after a step back must write what it
// answered from, else its RetryAfter is a microsecond short.
func TestCutKeepsTheFractionToo(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 2, Period: 1, Burst: 2}) // full in 1 µs
	var s algo.State
	algo.Decide(p, &s, 10, 1, 0)     // full again at 10.5
	v := algo.Decide(p, &s, 9, 2, 0) // the clock goes back: cut to 10
	if retry := p.RetryAfter(v); v.Allowed || retry != 1 || !algo.Check(p, &s, 9+retry, 2, 0).Allowed {
		t.Errorf("%+v, then at 10: %+v", v, algo.Check(p, &s, 10, 2, 0))
	}
}

// TestReturnKeepsNoFraction: what was just taken comes back whole, also the part of
// a microsecond.
func TestReturnKeepsNoFraction(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 3, Period: 10, Burst: 2})
	var s algo.State
	algo.Decide(p, &s, 100, 1, 0) // full again at 103⅓
	algo.Return(p, &s, 100, 1, 100, p.Mark(&s), 0)
	if v := algo.Check(p, &s, 100, 2, 0); !v.Allowed {
		t.Errorf("everything was given back, and still %+v, state %+v", v, s)
	}
}

// TestReturnLeavesNoEmptyEntry: an entry that was given back whole no longer counts
// for ResetAfter.
func TestReturnLeavesNoEmptyEntry(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 5, Period: 100}}})
	var s algo.State
	algo.Decide(p, &s, 1000, 1, 0)
	algo.Return(p, &s, 1000, 1, 1000, p.Mark(&s), 0)
	if v := algo.Check(p, &s, 1000, 0, 0); p.ResetAfter(v) != 0 {
		t.Errorf("nothing counts, and ResetAfter is %d", p.ResetAfter(v))
	}
}

// TestFixedWindowAfterClockBack: a clock that goes back over a boundary by a
// microsecond, and on, again and again, grants nothing. The price is that the
// window then ends off the boundary, so that once after a step back three windows
// can meet within one period.
func TestFixedWindowAfterClockBack(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 3, Period: 10})
	var s algo.State
	algo.Decide(p, &s, 110, 3, 0)
	for range 5 {
		for _, now := range []int64{109, 110} {
			if algo.Decide(p, &s, now, 1, 0).Allowed {
				t.Fatalf("a step back to 109 and on granted something at %d", now)
			}
		}
	}
	admitted := 0
	for now := int64(110); now < 121; now++ {
		for algo.Decide(p, &s, now, 1, 0).Allowed {
			admitted++
		}
	}
	if admitted != 6 { // at 119, a period after the step back, and at 120
		t.Errorf("%d admitted up to 120, want two windows of 3", admitted)
	}
}

// TestRefundStopsAtNow: a refund that overfills leaves a bucket that is full now,
// not one that was full before: a step back would show the difference.
func TestRefundStopsAtNow(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 10, Burst: 5})
	var s algo.State
	algo.Decide(p, &s, 100, 1, 0)
	algo.Refund(p, &s, 100, 5)
	if s.T != 100 || s.F != 0 {
		t.Errorf("full since %d + %d, want since the refund at 100", s.T, s.F)
	}
}
