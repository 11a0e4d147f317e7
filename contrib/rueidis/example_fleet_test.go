package sluicerueidis_test

import (
	"context"
	"errors"

	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// One budget for all processes that share a Redis server: the README's example.
func Example_fleet() {
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		return
	}
	defer client.Close()
	store, err := redisstore.New(client)
	if err != nil {
		return
	}
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(context.Background(), "ann")
	_, _ = d, err
}

// Hot keys are leased: decided here, within the limit.
func Example_leases() {
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		return
	}
	defer client.Close()
	shared, err1 := redisstore.New(client)
	leased, err2 := lease.New(shared) // strict, leases of up to 50 ms
	store, err3 := failover.New(leased, memstore.New(), failover.Direct())
	if err := errors.Join(err1, err2, err3); err != nil {
		return
	}
	defer func() { _ = errors.Join(store.Close(), leased.Close(context.Background())) }()
	d, err := sluice.NewKeyed(sluice.PerSecond(1_000_000), sluice.WithStore(store)).Allow(context.Background(), "ann")
	_, _ = d, err
}

// With everything: hot keys are leased, and while Redis is down every instance
// goes on with its share.
func Example_everything() {
	ctx := context.Background()
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		return
	}
	defer client.Close()
	shared, err1 := redisstore.New(client)
	leased, err2 := lease.New(shared)
	member, err3 := split.Join(ctx, shared, split.Membership{Group: "api"})
	store, err4 := failover.New(leased, split.New(memstore.New(), member),
		failover.Direct(), failover.Probe(shared.Ping))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return
	}
	defer func() { _ = errors.Join(store.Close(), leased.Close(ctx), member.Close()) }()
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(ctx, "ann")
	_, _, _ = d.Allowed, d.Degraded, err
}
