package redisstore

import (
	"context"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// pingSpec is any limit that the server is asked about.
var pingSpec, _ = algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 1})

// Ping reports whether the server runs our script. It looks at a key that nobody
// uses and writes nothing. It is meant for failover.Probe and for health checks.
func (s *Store) Ping(ctx context.Context) error {
	return s.decide(ctx, store.Spend, []store.Check{{Key: "ping", Spec: pingSpec}})
}
