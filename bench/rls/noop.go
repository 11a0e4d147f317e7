package rls

import (
	"context"
	"fmt"
	"net"
	"os"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
)

// noop answers everything with yes: what gRPC itself costs, as it comes.
type noop struct {
	pb.UnimplementedRateLimitServiceServer
}

func (noop) ShouldRateLimit(_ context.Context, r *pb.RateLimitRequest) (*pb.RateLimitResponse, error) {
	answer := &pb.RateLimitResponse{OverallCode: pb.RateLimitResponse_OK}
	for range r.GetDescriptors() {
		answer.Statuses = append(answer.Statuses, &pb.RateLimitResponse_DescriptorStatus{Code: pb.RateLimitResponse_OK, LimitRemaining: 1})
	}
	return answer, nil
}

// noopAddress tells a process of this program that it is the no-op server.
const noopAddress = "SLUICE_BENCH_NOOP"

// Noop serves, if this process is the no-op server, until it is ended.
func Noop() bool {
	address := os.Getenv(noopAddress)
	if address == "" {
		return false
	}
	l, err := net.Listen("tcp", address)
	if err == nil {
		s := grpc.NewServer() // with its defaults; ours keeps goroutines ready
		pb.RegisterRateLimitServiceServer(s, noop{})
		err = s.Serve(l)
	}
	fmt.Fprintln(os.Stderr, "noop:", err)
	return true
}
