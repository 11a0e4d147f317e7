package rls_test

import (
	"context"
	"math"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/rls"
)

const basic = `
domain: d
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 3, name: per user}
  - key: path
    value: /login
    rate_limit: {unit: hour, requests_per_unit: 2}
  - key: banned
    rate_limit: {unit: second, requests_per_unit: 0}
  - key: free
    rate_limit: {unlimited: true}
  - key: seen
    descriptors:
      - key: deep
        rate_limit: {unit: day, requests_per_unit: 1}
`

func TestOneDescriptor(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	for left := int64(2); left >= 0; left-- {
		w.want(w.ask(d("user=ann")), true, left)
	}
	r := w.ask(d("user=ann"))
	w.want(r, false, 0)
	s := r.GetStatuses()[0]
	if s.GetCode() != pb.RateLimitResponse_OVER_LIMIT || s.GetDurationUntilReset().AsDuration() != time.Minute {
		t.Errorf("status of a denial: %v", s)
	}
	if l := s.GetCurrentLimit(); l.GetName() != "per user" || l.GetRequestsPerUnit() != 3 || l.GetUnit() != pb.RateLimitResponse_RateLimit_MINUTE || l.GetUnitMultiplier() != nil {
		t.Errorf("limit: %v", l)
	}
	w.want(w.ask(d("user=bob")), true, 2) // another budget
	w.pass(time.Minute)
	w.want(w.ask(d("user=ann")), true, 2)
}

func TestStatusesOfWhatIsNotLimited(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	r := w.ask(d("other=1"), d("free=1"), d("seen=1"), d("seen=1 deep=1"), d("user=ann more=1"), d("banned=1"))
	w.want(r, false, -1, -1, -1, 1, -1, 0) // what was denied spent nothing
	if got := r.GetStatuses()[1].GetLimitRemaining(); got != math.MaxUint32 {
		t.Errorf("unlimited has %d left", got)
	}
	if code := r.GetStatuses()[5].GetCode(); code != pb.RateLimitResponse_OVER_LIMIT {
		t.Errorf("a ban says %v", code)
	}
	if code := r.GetStatuses()[3].GetCode(); code != pb.RateLimitResponse_OK {
		t.Errorf("what has room says %v", code)
	}
}

func TestUnknownDomainIsAllowed(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	r, err := w.client.ShouldRateLimit(context.Background(), request("other", d("user=ann")))
	if err != nil || r.GetOverallCode() != pb.RateLimitResponse_OK || r.GetStatuses()[0].GetCurrentLimit() != nil {
		t.Errorf("%v, %v", r, err)
	}
}

func TestCosts(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	r, err := w.client.ShouldRateLimit(context.Background(), &pb.RateLimitRequest{Domain: "d", HitsAddend: 2, Descriptors: []*ratelimitv3.RateLimitDescriptor{d("user=ann")}})
	if err != nil {
		t.Fatal(err)
	}
	w.want(r, true, 1)
	w.want(w.ask(hits(0, d("user=ann"))), true, 1) // only looks
	w.want(w.ask(hits(2, d("user=ann"))), false, 1)
	w.want(w.ask(hits(1, d("user=ann"))), true, 0)
	w.want(w.ask(hits(0, d("user=ann"))), false, 0)
	w.want(w.ask(refund(2, d("user=ann"))), true, 2)
	w.want(w.ask(refund(50, d("user=ann"))), true, 3) // at most what counts
	if r := w.ask(refund(1, d("banned=1"))); r.GetStatuses()[0].GetCode() != pb.RateLimitResponse_OK {
		t.Errorf("who gives back is refused: %v", r)
	}
	w.want(w.ask(hits(math.MaxUint64, d("user=ann"))), false, 3)
}

func TestDifferentCostsAreAllOrNothing(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	w.want(w.ask(hits(3, d("user=ann")), hits(1, d("path=/login"))), true, 0, 1)
	w.want(w.ask(hits(1, d("path=/login")), hits(2, d("user=ann"))), false, 1, 0)
	w.want(w.ask(hits(2, d("user=bob")), hits(1, d("user=ann"))), false, 3, 0) // the same limit under two keys
	w.want(w.ask(hits(0, d("user=ann")), d("path=/login")), false, 0, 1)       // a look that says no
	w.want(w.ask(d("user=cid"), d("user=dan"), d("user=eve")), true, 2, 2, 2)
}

func TestRefundWaitsForTheOthers(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	w.want(w.ask(hits(3, d("user=ann"))), true, 0)
	w.want(w.ask(refund(1, d("user=ann")), d("banned=1")), false, 0, 0) // nothing happens at all
	w.want(w.ask(refund(1, d("user=ann")), d("path=/login")), true, 1, 1)
}

func override(n uint32, unit typev3.RateLimitUnit, times uint32, of *ratelimitv3.RateLimitDescriptor) *ratelimitv3.RateLimitDescriptor {
	of.Limit = &ratelimitv3.RateLimitDescriptor_RateLimitOverride{RequestsPerUnit: n, Unit: unit}
	if times > 0 {
		of.Limit.UnitMultiplier = wrapperspb.UInt32(times)
	}
	return of
}

func TestOverrides(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	tens := func() *ratelimitv3.RateLimitDescriptor {
		return override(2, typev3.RateLimitUnit_SECOND, 10, d("user=ann"))
	}
	r := w.ask(tens())
	w.want(r, true, 1)
	if l := r.GetStatuses()[0].GetCurrentLimit(); l.GetRequestsPerUnit() != 2 || l.GetUnit() != pb.RateLimitResponse_RateLimit_SECOND || l.GetUnitMultiplier().GetValue() != 10 {
		t.Errorf("limit: %v", l)
	}
	w.want(w.ask(tens()), true, 0)
	w.want(w.ask(tens()), false, 0)
	w.want(w.ask(hits(0, tens())), false, 0)
	w.want(w.ask(override(3, typev3.RateLimitUnit_SECOND, 10, d("user=ann"))), true, 0) // more, and what was spent counts
	w.want(w.ask(d("user=ann")), true, 2)                                               // the file's own limit is another
	w.pass(10 * time.Second)
	w.want(w.ask(tens(), d("user=ann")), true, 1, 1)
	w.want(w.ask(tens(), d("banned=1")), false, 1, 0) // what it took is given back
	w.want(w.ask(refund(1, tens())), true, 2)
	_, err := w.client.ShouldRateLimit(context.Background(), request("d", override(1, typev3.RateLimitUnit_UNKNOWN, 0, d("user=ann"))))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a limit without a unit: %v", err)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	many := make([]*ratelimitv3.RateLimitDescriptor, 1000)
	for i := range many {
		many[i] = d("user=ann")
	}
	for name, r := range map[string]*pb.RateLimitRequest{
		"empty":                {},
		"no descriptors":       {Domain: "d"},
		"no domain":            request("", d("user=ann")),
		"no entries":           request("d", d("")),
		"no key":               request("d", d("=x")),
		"too many descriptors": request("d", many...),
	} {
		if _, err := w.client.ShouldRateLimit(context.Background(), r); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplaces(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - key: all
    rate_limit: {unit: minute, requests_per_unit: 1, name: base}
  - key: vip
    rate_limit: {unit: minute, requests_per_unit: 3, name: vip, replaces: [{name: base}]}
  - key: free
    rate_limit: {unlimited: true, replaces: [{name: base}, {name: vip}]}
`, rls.Options{})
	w.want(w.ask(d("all=1"), d("vip=ann")), true, -1, 2)
	w.want(w.ask(d("all=1"), d("vip=ann")), true, -1, 1)
	w.want(w.ask(d("all=1")), true, 0) // was not counted
	w.want(w.ask(d("all=1"), d("vip=ann"), d("free=1")), true, -1, -1, -1)
}

func TestQuotaMode(t *testing.T) {
	const quotas = `
domain: d
descriptors:
  - {key: a, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 1}}
  - {key: b, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 2}}
  - {key: c, rate_limit: {unit: minute, requests_per_unit: 5}}
`
	w := newWorld(t, quotas, rls.Options{})
	w.want(w.ask(d("a=1"), d("b=1"), d("c=1")), true, 0, 1, 4)
	r := w.ask(d("a=1"), d("b=1"), d("c=1"))
	w.want(r, true, 0, 0, 3) // a is empty, b is not
	if code := r.GetStatuses()[0].GetCode(); code != pb.RateLimitResponse_OK {
		t.Errorf("a quota says %v", code)
	}
	w.want(w.ask(d("a=1"), d("b=1"), d("c=1")), false, 0, 0, 3) // all are: c spent nothing
	w.want(w.ask(d("a=2"), hits(9, d("c=1"))), false, 1, 3)     // c refuses: the quota gets its own back
	w.want(w.ask(d("a=1")), false, 0)
	w.want(w.ask(hits(0, d("a=1"))), false, 0)
	w.want(w.ask(hits(0, d("a=3")), d("a=1")), true, 1, 0) // one that has room, though it only looks
	w.want(w.ask(hits(0, d("a=1")), d("b=1")), false, 0, 0)

	all := newWorld(t, basic, rls.Options{Quota: true})
	all.want(all.ask(d("banned=1"), d("user=ann")), true, 0, 2)
	all.want(all.ask(d("banned=1")), false, 0)
}

func TestShadowAll(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	w.engine.ShadowAll(true)
	w.want(w.ask(d("banned=1"), d("user=ann")), true, 0, 2) // limits are told all the same
	w.want(w.ask(d("banned=1")), true, 0)
	if got := w.engine.Stats().Shadow; got != 2 {
		t.Errorf("%d shadow refusals counted, want 2", got)
	}
	w.engine.ShadowAll(false)
	w.want(w.ask(d("banned=1")), false, 0)
}

func TestWhatTheEngineKnows(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	for range 5 {
		w.ask(d("user=ann"), d("path=/login"))
	}
	s := w.engine.Stats()
	if s.Requests != 5 || s.Denied != 3 {
		t.Errorf("%d requests, %d denied: want 5, 3", s.Requests, s.Denied)
	}
	top := w.engine.Top(0, 5)
	if len(top) == 0 || top[0].Key != "ann" || top[0].Rule != "envoy/d.user" || top[0].Count != 5 {
		t.Errorf("top keys: %v", top)
	}
}

func TestAForeignRuleRefuses(t *testing.T) {
	everything := rule.Rule{Name: "everything", Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 1/h")}}}
	w := newWorld(t, basic, rls.Options{}, everything)
	w.want(w.ask(d("user=ann"), d("path=/login")), true)
	r := w.ask(d("user=ann"), d("path=/login"))
	w.want(r, false)
	if l := r.GetStatuses()[0].GetCurrentLimit(); l.GetName() != "everything" || l.GetRequestsPerUnit() != 1 {
		t.Errorf("limit: %v", l)
	}
}

func TestRefusalsTellWhenToComeBack(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - {key: a, rate_limit: {unit: minute, requests_per_unit: 6, algorithm: token_bucket}}
`, rls.Options{})
	w.want(w.ask(hits(6, d("a=1"))), true, 0)
	r := w.ask(d("a=1"))
	w.want(r, false, 0)
	if got := r.GetStatuses()[0].GetDurationUntilReset().AsDuration(); got != 10*time.Second {
		t.Errorf("the next token is there in 10 s, not in %v", got)
	}
}
