package rls_test

import (
	"context"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/rls"
)

func ownRules() []rule.Rule {
	return []rule.Rule{
		{
			Name: "per-user", Match: rule.Match{Attributes: map[string]string{"domain": "shop"}}, Key: []string{"attribute:user"},
			Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 2/30s")}},
		},
		{
			Name: "per-ip", Match: rule.Match{Attributes: map[string]string{"remote_address": "*"}}, Key: []string{"ip"},
			Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 5/h")}},
		},
	}
}

func TestOwnRules(t *testing.T) {
	w := newWorld(t, basic, rls.Options{}, ownRules()...)
	ask := func(domain string, texts ...string) *pb.RateLimitResponse {
		t.Helper()
		r := request(domain)
		for _, text := range texts {
			r.Descriptors = append(r.Descriptors, d(text))
		}
		answer, err := w.client.ShouldRateLimit(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	r := ask("shop", "user=ann", "remote_address=192.0.2.1")
	w.want(r, true, 1, 1) // both tell of what bound
	if l := r.GetStatuses()[1].GetCurrentLimit(); l.GetRequestsPerUnit() != 2 || l.GetUnit() != pb.RateLimitResponse_RateLimit_SECOND || l.GetUnitMultiplier().GetValue() != 30 || l.GetName() != "per-user" {
		t.Errorf("limit: %v", l)
	}
	w.want(ask("shop", "user=ann"), true, 0)
	w.want(ask("shop", "user=ann", "remote_address=192.0.2.1"), false, 0, 0)
	w.want(ask("elsewhere", "remote_address=192.0.2.1"), true, 3) // the denied one spent nothing
	w.want(ask("elsewhere", "user=ann"), true, -1)
}

func TestOwnRulesCosts(t *testing.T) {
	w := newWorld(t, "", rls.Options{}, ownRules()...)
	for _, step := range []struct {
		hits   uint64
		refund bool
		ok     bool
		left   int64
	}{
		{hits: 0, ok: true, left: 2},
		{hits: 2, ok: true, left: 0},
		{hits: 0, ok: false, left: 0},
		{hits: 1, refund: true, ok: true, left: 1},
		{hits: 1, ok: true, left: 0},
	} {
		descriptor := hits(step.hits, d("user=ann"))
		descriptor.IsNegativeHits = step.refund
		r, err := w.client.ShouldRateLimit(context.Background(), request("shop", descriptor))
		if err != nil {
			t.Fatal(err)
		}
		w.want(r, step.ok, step.left)
	}
}

func TestOwnRulesSeeOneRequest(t *testing.T) {
	w := newWorld(t, "", rls.Options{}, ownRules()...)
	_, err := w.client.ShouldRateLimit(context.Background(), request("shop", d("user=ann"), d("user=bob")))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("two users in one request: %v", err)
	}
	if _, err := w.client.ShouldRateLimit(context.Background(), request("shop", d("user=ann x=1"), d("user=ann y=1"))); err != nil {
		t.Errorf("the same user twice: %v", err)
	}
}
