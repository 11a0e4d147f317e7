//go:build !race

package rls_test

import (
	"context"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/sluice-limiter/sluice/server/rls"
)

// TestServiceAllocations counts what a decision allocates beside what gRPC does: the
// answer, which is one piece.
func TestServiceAllocations(t *testing.T) {
	w := &world{now: start}
	s := w.open(t, basic, w.memory(), rls.Options{})
	for name, r := range map[string]*pb.RateLimitRequest{
		"one descriptor": request("d", d("user=ann")),
		"two":            request("d", d("user=ann"), d("path=/login")),
		"no limit":       request("d", d("other=ann")),
	} {
		got := testing.AllocsPerRun(1000, func() { _, _ = s.ShouldRateLimit(context.Background(), r) })
		if got > 1 {
			t.Errorf("%s: %v allocations, want 1", name, got)
		}
	}
}
