package redis

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/storetest"
)

var (
	_ redisstore.Scripter = scripter(nil)
	_ scripter            = redisstore.Scripter(nil)
)

// openStore opens a store through one of the clients.
func openStore(t testing.TB, open func(t testing.TB, g target) scripter, g target, options ...redisstore.Option) *redisstore.Store {
	t.Helper()
	return newStore(t, open(t, g), g, options...)
}

func newStore(t testing.TB, s scripter, g target, options ...redisstore.Option) *redisstore.Store {
	t.Helper()
	if g.cluster {
		options = append(options, redisstore.Cluster())
	}
	st, err := redisstore.New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// openStores opens n stores of each client, each with connections of its own: the
// instances of a fleet.
func openStores(t testing.TB, g target, n int, options ...redisstore.Option) []store.Store {
	t.Helper()
	var stores []store.Store
	for range n {
		for _, c := range clients {
			stores = append(stores, openStore(t, c.open, g, options...))
		}
	}
	return stores
}

// asked makes a store ask the server about everything, also what it knows to be
// denied.
var asked = redisstore.DenialCache(0, 0)

// wantTTLs checks that no key lives forever.
func wantTTLs(t testing.TB, servers ...*redistest.Server) {
	t.Helper()
	for _, s := range servers {
		if keys := s.Immortal(); len(keys) > 0 {
			t.Errorf("keys without TTL: %q", keys)
		}
	}
}

// worlds counts the stores that the suite has opened, so that each has keys of its
// own.
var worlds atomic.Int64

// conform runs the suite for stores, or, if it is to be brief, only the scripts that
// specify every algorithm. It asks for all or nothing over several keys at one
// instant, which a Cluster promises for keys of one slot: each store puts its keys
// into one of its own.
func conform(t *testing.T, s scripter, g target, brief bool) {
	t.Helper()
	open := func(t testing.TB, now func() time.Time) store.Store {
		world := fmt.Sprint("world-", worlds.Add(1))
		options := []redisstore.Option{redisstore.Prefix(world), redisstore.WithClock(now)}
		if g.cluster {
			options = append(options, redisstore.Tag(func(string) string { return world }))
		}
		return newStore(t, s, g, options...)
	}
	if brief && !soaking {
		algotest.Run(t, open)
		return
	}
	storetest.Run(t, open, storetest.Steps(algotest.Rounds(500, 100_000)))
}

// soaking tells a long run. In a short one each client and each topology goes
// through the whole suite once.
var soaking = algotest.Rounds(0, 1) > 0

// TestSoakConformance: a standalone server, through both clients.
func TestSoakConformance(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			server := redistest.Start(t)
			conform(t, c.open(t, standalone(server)), standalone(server), c.name != "go-redis")
			wantTTLs(t, server)
		})
	}
}

// TestSoakConformanceInCluster: a Cluster, through both clients.
func TestSoakConformanceInCluster(t *testing.T) {
	t.Parallel()
	cl := redistest.StartCluster(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { conform(t, c.open(t, cluster(cl)), cluster(cl), c.name != "rueidis") })
	}
	wantTTLs(t, cl.Masters...)
}

// TestOneCallPerDecision: the server counts one EVALSHA for each, however many
// limits it has, and one EVAL for all.
func TestOneCallPerDecision(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.open, standalone(server), asked)
			var checks []store.Check
			for _, p := range limitsOfAllKinds(t) {
				checks = append(checks, store.Check{Key: "k", Spec: p, Cost: 1})
			}
			take(t, s, store.Spend, checks[:1]...)
			server.Do("CONFIG", "RESETSTAT")
			decisions := 0
			for n := 1; n <= len(checks); n++ {
				for range 10 {
					take(t, s, store.Spend, checks[:n]...)
					decisions++
				}
			}
			take(t, s, store.Refund, checks...)
			take(t, s, store.Reset, checks...)
			decisions += 2
			calls := server.Calls()
			if calls["evalsha"] != decisions || calls["eval"] != 0 {
				t.Errorf("%d EVALSHA and %d EVAL for %d decisions: %v", calls["evalsha"], calls["eval"], decisions, calls)
			}
		})
	}
	wantTTLs(t, server)
}

// limitsOfAllKinds are small limits, so that denials are common.
func limitsOfAllKinds(t testing.TB) []*algo.Spec {
	t.Helper()
	var specs []*algo.Spec
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 1000, Period: 1e6, Burst: 10},
		{Kind: algo.IntervalBucket, Count: 5, Period: 5000, Burst: 10},
		{Kind: algo.LeakyBucket, Count: 1000, Period: 1e6, Burst: 5},
		{Kind: algo.WarmUp, Count: 1000, Period: 1e6, Warm: 1e5, Cold: 3},
		{Kind: algo.FixedWindow, Count: 10, Period: 1e4},
		{Kind: algo.FixedWindow, Count: 10, Period: 1e4, FirstHit: true},
		{Kind: algo.SlidingWindow, Count: 10, Period: 1e4, Sub: 4},
		{Kind: algo.WeightedWindow, Count: 10, Period: 1e4},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 10, Period: 1e4}, {Count: 4, Period: 1e3}}},
	} {
		specs = append(specs, compile(t, def))
	}
	return specs
}

// take makes a call that must succeed.
func take(t testing.TB, s store.Store, op store.Op, checks ...store.Check) []store.Check {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	checks = append([]store.Check(nil), checks...)
	if err := s.Take(ctx, op, checks); err != nil {
		t.Fatalf("take: %v", err)
	}
	return checks
}
