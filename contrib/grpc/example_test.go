package sluicegrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// Two calls per minute for every client address.
func ExampleByPeer() {
	limit := sluicegrpc.ByPeer(sluice.PerMinute(2))
	client, stop := serve(grpc.UnaryInterceptor(limit.UnaryServer), grpc.StreamInterceptor(limit.StreamServer))
	defer stop()
	for range 3 {
		_, err := client.Check(context.Background(), new(healthpb.HealthCheckRequest))
		fmt.Println(status.Code(err))
	}
	// Output:
	// OK
	// OK
	// ResourceExhausted
}

// Rules decide per method and user.
func ExampleRules() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "health",
		Match:  rule.Match{Paths: []string{"/grpc.health.v1.Health/*"}},
		Key:    []string{"user"},
		Limits: []rule.Limit{{Limit: sluice.PerMinute(1)}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	rules, err := engine.New(set, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer rules.Close()

	limit := sluicegrpc.Rules(rules, sluicegrpc.Fill(func(_ context.Context, r *engine.Request) {
		r.User = "ann" // whom authentication has put into the context
	}))
	client, stop := serve(grpc.UnaryInterceptor(limit.UnaryServer), grpc.StreamInterceptor(limit.StreamServer))
	defer stop()
	for range 2 {
		_, err := client.Check(context.Background(), new(healthpb.HealthCheckRequest))
		_, quota := detailsOf(err)
		for _, v := range quota.GetViolations() {
			fmt.Println("refused by", v.GetSubject(), v.GetDescription())
		}
	}
	// Output:
	// refused by health 1/m
}

// serve starts a health service with some options and connects to it.
func serve(opts ...grpc.ServerOption) (client healthpb.HealthClient, stop func()) {
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(opts...)
	healthpb.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	cc, err := grpc.NewClient("passthrough:///health", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		log.Fatal(err)
	}
	return healthpb.NewHealthClient(cc), func() { _ = cc.Close(); server.Stop() }
}
