package sluice_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
)

// The pieces of code of docs/ALGORITHMS.md.

func Example_tokenBucket() {
	limiter := sluice.NewLimiter(sluice.PerSecond(100).WithBurst(20))
	fmt.Println(limiter.Allow()) // true

	d := limiter.Decide(50)          // more than the bucket can ever hold
	fmt.Println(d.Allowed, d.Reason) // false never
	// Output:
	// true
	// false never
}

func Example_refillByInterval() {
	limit := sluice.PerMinute(60)
	limit.Refill = sluice.ByInterval
	fmt.Println(limit) // 60/m refill=interval
	// Output:
	// 60/m refill=interval
}

func Example_leakyBucket() {
	limiter := sluice.NewLimiter(sluice.PerSecond(10).With(sluice.LeakyBucket).WithMaxWait(2 * time.Second))
	for range 3 {
		if err := limiter.Wait(context.Background()); err != nil {
			return // the queue is full, or the context ended
		}
		// here comes the call: one every 100 ms
	}
	// Output:
}

func Example_warmUp() {
	limit := sluice.PerSecond(100).With(sluice.WarmUp)
	limit.WarmUp, limit.ColdFactor = 10*time.Second, 3
	limiter := sluice.NewLimiter(limit)
	limiter.Reserve()                                            // goes at once
	fmt.Println(limiter.Reserve().Delay() > 29*time.Millisecond) // true
	// Output:
	// true
}

func Example_firstHit() {
	limit := sluice.PerMinute(5).With(sluice.FixedWindow)
	limit.Start = sluice.FirstHit
	limiter := sluice.NewLimiter(limit)
	d := limiter.Decide(2)
	fmt.Println(d.Remaining(), d.ResetAfter()) // 3 1m0s
	// Output:
	// 3 1m0s
}

func Example_subWindows() {
	limit := sluice.PerMinute(100).With(sluice.SlidingWindow)
	limit.SubWindows = 60
	fmt.Println(limit) // sliding_window 100/m sub_windows=60
	// Output:
	// sliding_window 100/m sub_windows=60
}

func Example_weighted() {
	limit := sluice.PerMinute(100).With(sluice.SlidingWindow)
	limit.Weighted = true
	fmt.Println(limit) // sliding_window 100/m weighted
	// Output:
	// sliding_window 100/m weighted
}

func Example_slidingLog() {
	limiter := sluice.NewLimiter(sluice.PerMinute(5).With(sluice.SlidingLog))
	limiter.Decide(4)
	d := limiter.Decide(2)
	fmt.Println(d.Allowed, d.Remaining(), d.RetryAfter() > 59*time.Second) // false 1 true
	// Output:
	// false 1 true
}

func Example_concurrency() {
	exports := sluice.NewConcurrency(4, sluice.WithExpiry(time.Minute))
	permit, err := exports.Wait(context.Background())
	if err == nil {
		fmt.Println(exports.InFlight(), exports.Limit()) // 1 4
		permit.Release()
	}
	// Output:
	// 1 4
}

func Example_severalLimits() {
	keyed := sluice.NewKeyed(sluice.PerSecond(10), sluice.WithLimits(sluice.PerHour(1000)))
	d, err := keyed.Allow(context.Background(), "alice")
	fmt.Println(d.Allowed, d.Remaining(), d.Limit(), err) // true 9 10/s <nil>
	// Output:
	// true 9 10/s <nil>
}

func Example_reserveAndCommit() {
	keyed := sluice.NewKeyed(sluice.PerMinute(1000))
	ctx := context.Background()

	r, err := keyed.Reserve(ctx, "alice", 300) // the estimate is spent now
	if err == nil && r.OK() {
		err = r.Commit(ctx, 120) // what it really took: 180 are given back
	}
	d, _ := keyed.Peek(ctx, "alice")
	fmt.Println(d.Remaining() >= 880, err) // true <nil>
	// Output:
	// true <nil>
}

func Example_calendar() {
	day := sluice.PerDay(10000).InZone("Europe/Berlin")
	month := sluice.PerMonth(1_000_000).WithAnchorDay(15)
	fmt.Println(day)   // 10000/d zone=Europe/Berlin
	fmt.Println(month) // 1000000/mo anchor_day=15
	// Output:
	// 10000/d zone=Europe/Berlin
	// 1000000/mo anchor_day=15
}
