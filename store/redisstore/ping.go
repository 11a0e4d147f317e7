package redisstore

import (
	"context"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// pingSpec is a limit that nobody reaches, so that every Ping writes.
var pingSpec, _ = algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e6})

// Ping reports whether the server runs our script and lets it write: a server that
// is full or read-only is not well. It writes one key, which nobody else uses and
// which is gone after a few milliseconds. In a cluster it asks one node. It is meant
// for failover.Probe and for health checks.
func (s *Store) Ping(ctx context.Context) error {
	return s.decide(ctx, store.Spend, []store.Check{{Key: "ping", Spec: pingSpec, Cost: 1}})
}
