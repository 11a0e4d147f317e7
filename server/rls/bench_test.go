package rls_test

import (
	"context"
	"testing"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/server/rls"
)

// BenchmarkShouldRateLimit is the part of a call that is not that of gRPC.
func BenchmarkShouldRateLimit(b *testing.B) {
	tree := parse(b, `domain: bench
descriptors:
  - key: many
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
  - key: denied
    rate_limit: {unit: day, requests_per_unit: 1}
`, envoy.Options{})
	set, err := rule.Compile(rule.Config{Rules: tree.Rules()})
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	s := rls.New(rls.Options{Engine: e, Tree: func() *envoy.Tree { return tree }, Observe: func(float64) {}, Clock: func() time.Duration { return time.Since(began) }})
	for name, r := range map[string]*pb.RateLimitRequest{
		"allowed": request("bench", d("many=1")),
		"two":     request("bench", d("many=1"), d("many=2")),
		"denied":  request("bench", d("denied=1")),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.ShouldRateLimit(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
