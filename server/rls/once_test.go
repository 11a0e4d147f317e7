package rls_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/sluice-limiter/sluice/server/rls"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// far is a store that is a journey away, and counts how often somebody goes there.
type far struct {
	store.Store
	trips atomic.Int64
}

func (f *far) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	f.trips.Add(1)
	return f.Store.Take(ctx, op, checks)
}

const mixed = `
domain: d
descriptors:
  - {key: a, rate_limit: {unit: hour, requests_per_unit: 5}}
  - {key: b, rate_limit: {unit: hour, requests_per_unit: 3}}
  - {key: none, rate_limit: {unit: hour, requests_per_unit: 0}}
  - {key: watched, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: q1, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: q2, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
`

// TestJourneys: whatever a call asks, it is one journey to the store, with the figures of
// all its limits. Only those that look before they spend need another.
func TestJourneys(t *testing.T) {
	w := &world{t: t, now: start}
	f := &far{Store: w.memory()}
	patient, err := failover.New(f, w.memory(), failover.Deadline(time.Minute)) // however busy the machine is
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	s := w.open(t, mixed, patient, rls.Options{})
	for _, step := range []struct {
		name  string
		all   []*ratelimitv3.RateLimitDescriptor
		trips int64
		ok    bool
		left  []int64
	}{
		{"several limits", []*ratelimitv3.RateLimitDescriptor{d("a=1"), d("b=1")}, 1, true, []int64{4, 2}},
		{"different costs", []*ratelimitv3.RateLimitDescriptor{hits(2, d("a=1")), d("b=1")}, 1, true, []int64{2, 1}},
		{"the same limit twice", []*ratelimitv3.RateLimitDescriptor{d("a=2"), hits(3, d("a=3"))}, 1, true, []int64{4, 2}},
		{"the same budget twice", []*ratelimitv3.RateLimitDescriptor{d("a=4"), hits(3, d("a=4"))}, 1, true, []int64{1, 1}},
		{"too much of it", []*ratelimitv3.RateLimitDescriptor{d("a=4"), d("a=4")}, 1, false, []int64{1, 1}},
		{"a refusal", []*ratelimitv3.RateLimitDescriptor{d("a=1"), d("none=1"), hits(2, d("b=1"))}, 1, false, []int64{2, 0, 1}},
		{"shadow", []*ratelimitv3.RateLimitDescriptor{d("watched=1"), d("a=5")}, 1, true, []int64{0, 4}},
		{"shadow that would refuse", []*ratelimitv3.RateLimitDescriptor{d("watched=1"), d("a=5")}, 1, true, []int64{0, 3}},
		{"a look", []*ratelimitv3.RateLimitDescriptor{hits(0, d("a=1"))}, 1, true, []int64{2}},
		{"a look and a cost", []*ratelimitv3.RateLimitDescriptor{hits(0, d("b=1")), d("a=1")}, 2, true, []int64{1, 1}},
		{"quotas", []*ratelimitv3.RateLimitDescriptor{d("q1=1"), d("q2=1"), d("a=6")}, 2, true, []int64{0, 0, 4}},
	} {
		before := f.trips.Load()
		r, err := s.ShouldRateLimit(t.Context(), request("d", step.all...))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(step.name)
		w.want(r, step.ok, step.left...)
		if got := f.trips.Load() - before; got != step.trips {
			t.Errorf("%s: %d journeys, want %d", step.name, got, step.trips)
		}
	}
}

// TestRefusedCallsAreNeverSeenAsSpent: one call that is refused cannot make others be
// refused, not even for a moment.
func TestRefusedCallsAreNeverSeenAsSpent(t *testing.T) {
	w := &world{now: start}
	s := w.open(t, mixed, w.memory(), rls.Options{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 300 {
				if r, err := s.ShouldRateLimit(t.Context(), request("d", hits(5, d("a=1")), d("none=1"))); err != nil || r.GetOverallCode() == pb.RateLimitResponse_OK {
					t.Errorf("%v, %v", r, err)
				}
			}
		})
	}
	for range 1000 {
		w.pass(time.Hour)
		if r, err := s.ShouldRateLimit(t.Context(), request("d", hits(5, d("a=1")))); err != nil || r.GetOverallCode() != pb.RateLimitResponse_OK {
			t.Fatalf("%v, %v", r, err)
		}
	}
	all.Wait()
}

// TestShadowIsTold: statuses of limits in shadow say how they stand, and never refuse.
// Headers for clients do not speak of them.
func TestShadowIsTold(t *testing.T) {
	w := newWorld(t, mixed, rls.Options{Headers: rls.Headers{Limit: "L", Remaining: "R", Reset: "S"}})
	w.want(w.ask(d("watched=1")), true, 0)
	r := w.ask(d("watched=1"), d("a=1"))
	w.want(r, true, 0, 4)
	s := r.GetStatuses()[0]
	if s.GetCode() != pb.RateLimitResponse_OK || s.GetCurrentLimit().GetRequestsPerUnit() != 1 || s.GetDurationUntilReset().AsDuration() != time.Hour {
		t.Errorf("a limit in shadow that would refuse: %v", s)
	}
	if h := r.GetResponseHeadersToAdd(); len(h) != 3 || h[0].GetValue() != "5" || h[1].GetValue() != "4" {
		t.Errorf("headers: %v", h)
	}
	if h := w.ask(d("watched=1")).GetResponseHeadersToAdd(); h != nil {
		t.Errorf("headers of a limit in shadow: %v", h)
	}
}

// TestRefusedLooksAreCounted: who is refused by a look is seen like all others.
func TestRefusedLooksAreCounted(t *testing.T) {
	w := newWorld(t, mixed, rls.Options{})
	w.want(w.ask(hits(3, d("b=1"))), true, 0)
	for range 2 {
		w.want(w.ask(hits(0, d("b=1")), d("a=1")), false, 0, 5)
	}
	w.want(w.ask(d("q1=1"), d("q2=1")), true, 0, 0)
	w.want(w.ask(d("q1=1"), d("q2=1")), false, 0, 0)
	if s := w.engine.Stats(); s.Denied != 3 || s.Rules[1].Denied != 2 {
		t.Errorf("%d denied, %d by b: want 3 and 2", s.Denied, s.Rules[1].Denied)
	}
}
