package rls_test

import (
	"context"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/server/rls"
)

// FuzzRequest sends any message. What is answered has a status for each descriptor, and
// is refused if and only if one of them, or all quotas, refuse.
func FuzzRequest(f *testing.F) {
	for _, r := range []*pb.RateLimitRequest{
		request("d", d("user=ann"), d("path=/login"), d("free=1")),
		request("d", hits(3, d("user=ann")), refund(1, d("user=ann")), hits(0, d("user=ann"))),
		request("d", override(2, 1, 10, d("user=ann")), d("banned=1")),
		request("other", d("user=ann a=b c="), d("user=ann")),
		{Domain: "d", HitsAddend: 1 << 31, Descriptors: request("d", d("seen=1 deep=2")).Descriptors},
	} {
		data, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	tree := parse(f, basic, envoy.Options{})
	set, err := rule.Compile(rule.Config{Rules: append(ownRules(), tree.Rules()...)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(pb.RateLimitRequest)
		if proto.Unmarshal(data, r) != nil {
			return
		}
		e, err := engine.New(set, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := rls.New(rls.Options{Engine: e, Tree: func() *envoy.Tree { return tree }, Metadata: true}).ShouldRateLimit(context.Background(), r)
		if err != nil {
			if status.Code(err) != codes.InvalidArgument {
				t.Fatal(err)
			}
			return
		}
		over := false
		for _, s := range answer.GetStatuses() {
			over = over || s.GetCode() == pb.RateLimitResponse_OVER_LIMIT
		}
		if len(answer.GetStatuses()) != len(r.GetDescriptors()) || over != (answer.GetOverallCode() == pb.RateLimitResponse_OVER_LIMIT) {
			t.Fatalf("%v\n%v", r, answer)
		}
	})
}
