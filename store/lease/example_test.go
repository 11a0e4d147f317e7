package lease_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// The inner store would be a redisstore that all instances share.
func Example() {
	ctx := context.Background()
	shared := algotest.NewModel(time.Now)
	s, err := lease.New(shared)
	if err != nil {
		panic(err)
	}
	defer s.Close(ctx)

	limit, err := algo.Compile(algo.Spec{Kind: algo.FixedWindow, Count: 10_000, Period: 86400e6, FirstHit: true})
	if err != nil {
		panic(err)
	}
	allowed := 0
	for range 900 {
		checks := []store.Check{{Key: "ann", Spec: limit, Cost: 1}}
		if err := s.Take(ctx, store.Spend, checks); err != nil {
			panic(err)
		}
		if checks[0].Verdict.Allowed {
			allowed++
		}
	}
	fmt.Println(allowed, "of 900")
	// Output: 900 of 900
}

func ExampleStore_Describe() {
	strict, _ := lease.New(algotest.NewModel(time.Now))
	lavish, _ := lease.New(algotest.NewModel(time.Now), lease.FullBurst())
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 1_000_000, Period: 1e6, Burst: 100_000},
		{Kind: algo.SlidingWindow, Count: 1000, Period: 60e6, Sub: 10},
		{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 10},
		{Kind: algo.TokenBucket, Count: 1000, Period: 1e6, Burst: 50},
		{Kind: algo.LeakyBucket, Count: 1000, Period: 1e6, Burst: 50},
	} {
		limit, _ := algo.Compile(def)
		fmt.Println(strict.Describe(limit))
	}
	limit, _ := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1_000_000, Period: 1e6, Burst: 100_000})
	fmt.Println(lavish.Describe(limit))
	// Output:
	// leased for up to 50ms in batches of up to 5000; strict: all instances together stay within the limit, for which 50000 of the burst of 100000 are kept back and a cost above 50000 is never admitted; when the store denies, each other instance may hold up to 15000 unused, for at most 50ms
	// leased for up to 50ms in batches of up to 100; a lease ends with its window; all instances together stay within 1000; when the store denies, each other instance may hold up to 300 unused, for at most 50ms
	// leases are off: the greatest batch would be below 2; every request goes to the store
	// leases are off: the age of a lease would cost more than half of the burst; every request goes to the store
	// leases are off: this algorithm is not leased; every request goes to the store
	// leased for up to 50ms in batches of up to 10000; full burst: all instances together exceed the limit by at most 50000; when the store denies, each other instance may hold up to 30000 unused, for at most 50ms
}
