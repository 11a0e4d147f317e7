package storetest

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// testRefundAndReset: a refund gives back at most what is counted; a reset forgets
// the key for this limit and no other.
func testRefundAndReset(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 50})
		w.wantLeft("k", p, 100, "after a refund of nothing")
		w.spend("k", p, 70)
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 30})
		w.wantLeft("k", p, 60, "after 70 and a refund of 30")
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 0})
		w.wantLeft("k", p, 60, "after a refund of 0")
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 1000})
		w.wantLeft("k", p, 100, "after too large a refund")
		w.spend("k", p, 90)
		w.spend("other", p, 90)
		w.take(store.Reset, store.Check{Key: "k", Spec: p})
		w.wantLeft("k", p, 100, "after a reset")
		w.wantLeft("other", p, 10, "after a reset of another key")
		w.take(store.Reset, store.Check{Key: "never seen", Spec: p})
	})
}

// reserve reserves cost for key k under an ID.
func (w *world) reserve(p *algo.Spec, id string, cost, hold int64) algo.Verdict {
	w.Helper()
	return w.take(store.Reserve, store.Check{Key: "k", Spec: p, Cost: cost, ID: id, Hold: hold})[0].Verdict
}

// commit settles and checks whether there was anything to settle.
func (w *world) commit(p *algo.Spec, id string, cost int64, want bool) {
	w.Helper()
	got := w.take(store.Commit, store.Check{Key: "k", Spec: p, Cost: cost, ID: id})[0].Verdict.Allowed
	if got != want {
		w.Errorf("commit %s %d: settled %v, want %v", id, cost, got, want)
	}
}

// testReservation: the estimate is spent at once and settled once.
func testReservation(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		w.commit(p, "never", 1, false)
		w.wantLeft("k", p, 100, "after a commit of nothing")
		if v := w.reserve(p, "a", 60, 1e6); !v.Allowed || p.Remaining(v) != 40 {
			w.Errorf("reserve 60 of 100: %+v", v)
		}
		if v := w.reserve(p, "a", 60, 1e6); !v.Allowed || p.Remaining(v) != 40 {
			w.Errorf("the same again gets %+v", v)
		}
		w.wantLeft("k", p, 40, "after a repeated reservation")
		w.commit(p, "a", 20, true)
		w.wantLeft("k", p, 80, "after 60 turned out to be 20")
		w.commit(p, "a", 0, false)
		w.commit(p, "a", 60, false)
		w.wantLeft("k", p, 80, "after a second commit")
		w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 100})
		if v := w.reserve(p, "b", 50, 1e6); !v.Allowed {
			w.Errorf("reserve 50 of 100: %+v", v)
		}
		w.commit(p, "b", 70, true)
		w.wantLeft("k", p, 30, "after 50 turned out to be 70")
		if v := w.reserve(p, "c", 31, 1e6); v.Allowed {
			w.Errorf("reserve 31 of 30: %+v", v)
		}
		w.commit(p, "c", 1, false)
		w.wantLeft("k", p, 30, "after a denied reservation")
		s.debt(w, p)
	})
}

// debt settles far above the estimate: nothing remains, and no less than nothing.
func (s *suite) debt(w *world, p *algo.Spec) {
	w.Helper()
	w.take(store.Reset, store.Check{Key: "k", Spec: p})
	w.reserve(p, "d", 50, 1e6)
	w.commit(p, "d", 250, true)
	w.wantLeft("k", p, 0, "in debt")
	if v := w.spend("k", p, 1); v.Allowed || p.RetryAfter(v) == 0 {
		w.Errorf("in debt: %+v", v)
	}
	w.take(store.Refund, store.Check{Key: "k", Spec: p, Cost: 200})
	w.wantLeft("k", p, 50, "after the debt was refunded")
}

// testExpiry: after the hold the estimate stays spent; a reset closes reservations.
func testExpiry(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		w.reserve(p, "a", 60, 1000)
		w.clock.Add(999)
		w.commit(p, "a", 59, true)
		w.reserve(p, "b", 1, 1000)
		left := w.left("k", p)
		w.clock.Add(1000)
		w.commit(p, "b", 0, false)
		if got := w.left("k", p); got > left+1 || got < left {
			w.Errorf("after an expired commit %d remain, were %d", got, left)
		}
		w.reserve(p, "c", 1, 1e9)
		w.take(store.Reset, store.Check{Key: "k", Spec: p})
		w.commit(p, "c", 0, false)
		w.wantLeft("k", p, 100, "after a reset")
	})
}

// testCancel: what has gone ahead is given back by a commit of 0; a booking that
// waits only if nothing was booked after it.
func testCancel(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		w.reserve(p, "a", 60, 1e6)
		w.commit(p, "a", 0, true)
		w.wantLeft("k", p, 100, "after a cancelled reservation")
	})
	w := s.world(t)
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 100})
	book := func(id string) algo.Verdict {
		return w.take(store.Reserve, store.Check{Key: "k", Spec: p, Cost: 10, MaxWait: 1e9, ID: id, Hold: 1e9})[0].Verdict
	}
	w.spend("k", p, 100)
	a, b := book("a"), book("b")
	if a.Wait != 100_000 || b.Wait != 200_000 {
		t.Errorf("two bookings wait %d and %d, want 100000 and 200000", a.Wait, b.Wait)
	}
	w.commit(p, "a", 0, true) // b was booked after it: nothing comes back
	if c := book("c"); c.Wait != 300_000 {
		t.Errorf("after a cancelled booking in the middle the next waits %d, want 300000", c.Wait)
	}
	w.commit(p, "c", 0, true) // the newest: all comes back
	if d := book("d"); d.Wait != 300_000 {
		t.Errorf("after the newest was cancelled the next waits %d, want 300000", d.Wait)
	}
}

// testCancelSpend gives back spends that were told to wait, known by their mark.
func testCancelSpend(t testing.TB, s *suite) {
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 1},
		{Kind: algo.TokenBucket, Count: 1_000_003, Period: 1e10, Burst: 1},
		{Kind: algo.IntervalBucket, Count: 1, Period: 10_000, Burst: 1},
		{Kind: algo.LeakyBucket, Count: 100, Period: 1e6, Burst: 10},
	} {
		w := s.world(t)
		p := compile(t, def)
		book := func() store.Check {
			return w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: 1, MaxWait: 1e9})[0]
		}
		book()
		a, b := book(), book()
		if a.Verdict.Wait == 0 || b.Verdict.Wait <= a.Verdict.Wait {
			t.Errorf("%s: bookings wait %d and %d", algotest.Describe(def), a.Verdict.Wait, b.Verdict.Wait)
		}
		if w.take(store.Cancel, a)[0].Verdict.Allowed {
			t.Errorf("%s: a booking was given back though another came after it", algotest.Describe(def))
		}
		if !w.take(store.Cancel, b)[0].Verdict.Allowed {
			t.Errorf("%s: the newest booking was not given back", algotest.Describe(def))
		}
		if c := book(); c.Verdict.Wait != b.Verdict.Wait {
			t.Errorf("%s: the next waits %d, want %d", algotest.Describe(def), c.Verdict.Wait, b.Verdict.Wait)
		}
		w.take(store.Reset, store.Check{Key: "k", Spec: p})
		if w.take(store.Cancel, a)[0].Verdict.Allowed {
			t.Errorf("%s: a booking was given back though the key was reset", algotest.Describe(def))
		}
	}
}

// testCancelByAnOldLimit: a cancel that gives nothing back changes nothing, also if
// it comes with the limit as it was before a change.
func testCancelByAnOldLimit(t testing.TB, s *suite) {
	w := s.world(t)
	def := algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 1}
	before := compile(t, def)
	def.Count = 97
	after := compile(t, def)
	book := func(p *algo.Spec, op store.Op, id string) store.Check {
		return w.take(op, store.Check{Key: "k", Spec: p, Cost: 1, MaxWait: 1e9, ID: id, Hold: 1e9})[0]
	}
	book(before, store.Spend, "")
	a, _ := book(before, store.Spend, ""), book(before, store.Reserve, "r")
	book(after, store.Spend, "")
	want := after.ResetAfter(w.spend("k", after, 0))
	if w.take(store.Cancel, a)[0].Verdict.Allowed {
		t.Errorf("a booking was given back though others came after it")
	}
	w.commit(before, "r", 0, true)
	if got := after.ResetAfter(w.spend("k", after, 0)); got != want {
		t.Errorf("full after %dµs, was %dµs before two cancels that gave nothing back", got, want)
	}
}

// testUnsettledByAnOldLimit: a commit that settles nothing changes nothing, also if
// the limit was one of a far coarser unit then.
func testUnsettledByAnOldLimit(t testing.TB, s *suite) {
	w := s.world(t)
	def := algo.Spec{Kind: algo.TokenBucket, Count: 500_000_000_000, Period: 3600e6, Burst: 1000}
	before := compile(t, def)
	def.Count = 1_000_000_000_001
	after := compile(t, def)
	for range 3 {
		w.spend("k", after, 300)
		want := after.ResetAfter(w.spend("k", after, 0))
		w.commit(before, "never", 0, false)
		if got := after.ResetAfter(w.spend("k", after, 0)); got != want {
			t.Errorf("full after %dµs, was %dµs before a commit that settled nothing", got, want)
		}
	}
}
