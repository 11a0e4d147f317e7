package app

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// openStore returns where budgets are kept, and which of how many instances this is.
func (a *App) openStore(ctx context.Context) (store.Store, split.Instance, error) {
	memory := memstore.New(memstore.MaxBytes(int64(a.config.Memory)), memstore.WithLogger(a.logger))
	a.metrics.Memory(metrics.StoreCluster, int64(a.config.Memory), memory.Stats)
	if a.config.Redis == "" {
		alone := split.Fixed{Rank: 0, Live: a.config.Split.Assume}
		a.metrics.Instances(alone)
		return memory, alone, nil
	}
	shared, err := a.openRedis(ctx)
	if err != nil {
		return nil, nil, err
	}
	a.metrics.Denials(shared.Stats)
	member, err := a.join(ctx, shared)
	if err != nil {
		return nil, nil, err
	}
	a.metrics.Instances(member)
	leased, err := a.openLeases(shared)
	if err != nil {
		return nil, nil, err
	}
	// Every call ends with its context, so that none needs a goroutine of its own.
	guarded, err := failover.New(leased, split.New(memory, member, split.WithLogger(a.logger)),
		failover.Direct(), failover.Probe(shared.Ping), failover.WithLogger(a.logger),
		failover.Deadline(time.Duration(a.config.Deadline)))
	if err != nil {
		return nil, nil, err
	}
	a.metrics.Breaker(guarded.Stats)
	a.onEnd("breaker", func(context.Context) error { return guarded.Close() })
	return guarded, member, nil
}

// openRedis connects, if it can.
func (a *App) openRedis(ctx context.Context) (*redisstore.Store, error) {
	where, err := config.ParseRedis(a.config.Redis)
	if err != nil {
		return nil, err
	}
	line := newLine(where.Option, a.logger)
	a.onEnd("connection to Redis", line.close)
	line.try(ctx)
	opts := []redisstore.Option{redisstore.Prefix(a.config.Prefix), redisstore.Tag(rule.TagOf)}
	if where.Cluster {
		opts = append(opts, redisstore.Cluster())
	}
	if a.config.Keys.Hash {
		opts = append(opts, redisstore.HashKeys(a.secret))
	}
	return redisstore.New(a.metrics.Scripter(a.traceRedis(line), now), opts...)
}

// join tells the other instances that this one is there.
func (a *App) join(ctx context.Context, registry split.Registry) (*split.Member, error) {
	first, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	member, err := split.Join(first, registry, split.Membership{
		Group: a.config.Split.Group, Assume: a.config.Split.Assume, Hold: time.Duration(a.config.Split.Hold), Logger: a.logger,
	})
	if err == nil {
		a.onEnd("group", func(context.Context) error { return member.Close() })
	}
	return member, err
}

// openLeases puts leases before Redis, if they are on.
func (a *App) openLeases(shared *redisstore.Store) (store.Store, error) {
	counted := a.metrics.Store(metrics.LayerRedis, shared)
	if !a.config.Lease.On {
		return counted, nil
	}
	leased, err := lease.New(counted, lease.Age(time.Duration(a.config.Lease.Age)), lease.WithLogger(a.logger))
	if err != nil {
		return nil, err
	}
	a.onEnd("leases", leased.Close)
	return a.metrics.Store(metrics.LayerLease, leased), nil
}

// openEngine starts the engine with the first rules.
func (a *App) openEngine(loaded *config.Loaded, s store.Store, instance split.Instance) (err error) {
	opts := []engine.Option{engine.WithInstance(instance), engine.WithObserver(a.metrics.Decisions), engine.WithLogger(a.logger), engine.MaxMemory(int64(a.config.InstanceMemory))}
	// A request that waits keeps its place in flight: half of them are left for others.
	opts = append(opts, engine.MaxWaiters(min(engine.DefaultMaxWaiters, max(1, a.config.Limits.InFlight/2))))
	if share := a.config.Log.Decisions; share > 0 {
		opts = append(opts, engine.WithObserver(&decisionLog{a.logger, share, a.keys}))
	}
	if size := a.config.Record.Memory; size > 0 {
		a.record = newRecord(int64(size), time.Duration(a.config.Record.Age), now, time.Since)
		opts = append(opts, engine.WithObserver(a.record))
	}
	if a.engine, err = engine.New(loaded.Rules.Set, s, opts...); err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	a.onEnd("engine", func(context.Context) error { return a.engine.Close() })
	a.metrics.Engine(a.engine)
	a.metrics.Memory(metrics.StoreInstance, 2*int64(a.config.InstanceMemory), a.engine.Memory) // scopes instance and split
	return nil
}

// storeName says where budgets are, without passwords.
func (a *App) storeName() string {
	if a.config.Redis == "" {
		return "memory"
	}
	return config.Lookup("redis").Text(&a.config)
}
