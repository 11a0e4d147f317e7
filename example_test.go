package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
)

// newYear is a time that does not pass, so that examples say the same every time.
func newYear() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

func Example() {
	limiter := sluice.NewLimiter(sluice.PerHour(10).WithBurst(3))
	for i := range 5 {
		fmt.Println("request", i, "allowed:", limiter.Allow())
	}
	// Output:
	// request 0 allowed: true
	// request 1 allowed: true
	// request 2 allowed: true
	// request 3 allowed: false
	// request 4 allowed: false
}

func ExampleNewLimiter() {
	// 100 per second, and up to 200 at once after a quiet time.
	limiter := sluice.NewLimiter(sluice.PerSecond(100).WithBurst(200))
	if limiter.Allow() {
		fmt.Println("welcome")
	}
	// Output: welcome
}

func ExampleLimiter_AllowN() {
	limiter := sluice.NewLimiter(sluice.PerSecond(10), sluice.WithClock(newYear))
	now := newYear()
	fmt.Println(limiter.AllowN(now, 10), limiter.AllowN(now, 1))
	fmt.Println(limiter.AllowN(now.Add(99*time.Millisecond), 1))
	fmt.Println(limiter.AllowN(now.Add(100*time.Millisecond), 1))
	// Output:
	// true false
	// false
	// true
}

func ExampleLimiter_Wait() {
	limiter := sluice.NewLimiter(sluice.PerMinute(1))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	fmt.Println("first: ", limiter.Wait(ctx))
	// The second could go ahead only in a minute. Wait does not wait for the
	// deadline to pass to say so.
	err := limiter.Wait(ctx)
	fmt.Println("second:", errors.Is(err, sluice.ErrLimited), ctx.Err())
	// Output:
	// first:  <nil>
	// second: true <nil>
}

func ExampleLimiter_Reserve() {
	limiter := sluice.NewLimiter(sluice.PerSecond(1), sluice.WithClock(newYear))
	limiter.Allow()

	r := limiter.Reserve()
	fmt.Println(r.OK(), r.Delay())
	r.Cancel() // not needed after all: the next one gets its place
	fmt.Println(limiter.Reserve().Delay())
	// Output:
	// true 1s
	// 1s
}

func ExampleReservation_Commit() {
	ctx := context.Background()
	tokens := sluice.NewKeyed(sluice.PerMinute(1000), sluice.WithClock(newYear))

	// What the answer will cost is known only afterwards: reserve an estimate.
	r, err := tokens.Reserve(ctx, "ann", 800)
	if err != nil || !r.OK() {
		return
	}
	fmt.Println("left during the request:", r.Remaining())
	if err := r.Commit(ctx, 300); err != nil {
		return
	}
	d, _ := tokens.Peek(ctx, "ann")
	fmt.Println("left after it:", d.Remaining())
	fmt.Println("again:", errors.Is(r.Commit(ctx, 300), sluice.ErrSettled))
	// Output:
	// left during the request: 200
	// left after it: 700
	// again: true
}

func ExampleLimiter_Decide() {
	limiter := sluice.NewLimiter(sluice.PerSecond(4), sluice.WithClock(newYear))
	for range 2 {
		if d := limiter.Decide(3); d.Allowed {
			fmt.Println("allowed,", d.Remaining(), "left, all of it back after", d.ResetAfter())
		} else {
			fmt.Println(d.Reason, "by", d.Limit(), "- retry after", d.RetryAfter())
		}
	}
	// Output:
	// allowed, 1 left, all of it back after 750ms
	// limited by 4/s - retry after 500ms
}

func ExampleLimiter_SetLimit() {
	limiter := sluice.NewLimiter(sluice.PerSecond(10), sluice.WithClock(newYear))
	limiter.Decide(4)
	fmt.Println(limiter.Tokens())

	// What was spent stays spent.
	if err := limiter.SetLimit(sluice.PerSecond(100)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(limiter.Limit(), limiter.Tokens())

	// What makes no sense is refused, and the old limit goes on.
	err := limiter.SetLimit(sluice.Per(5, 0))
	fmt.Println(err)
	// Output:
	// 6
	// 100/s 60
	// sluice: invalid limit "5/0us": period: missing or not positive (write it with a unit, as in "100/s")
}

func ExampleWithClock() {
	now := newYear()
	limiter := sluice.NewLimiter(sluice.Every(time.Minute),
		sluice.WithClock(func() time.Time { return now }))
	fmt.Println(limiter.Allow(), limiter.Allow())
	now = now.Add(time.Minute)
	fmt.Println(limiter.Allow())
	// Output:
	// true false
	// true
}

func ExampleWithCoarseClock() {
	clock := sluice.NewCoarseClock(time.Millisecond)
	defer clock.Stop()
	// One clock serves any number of limiters.
	reads := sluice.NewLimiter(sluice.PerSecond(1_000_000), sluice.WithCoarseClock(clock))
	writes := sluice.NewKeyed(sluice.PerSecond(1000), sluice.WithCoarseClock(clock))
	d, err := writes.Allow(context.Background(), "ann")
	fmt.Println(reads.Allow(), d.Allowed, err)
	// Output: true true <nil>
}

func ExampleNewConcurrency() {
	ctx := context.Background()
	inFlight := sluice.NewConcurrency(2, sluice.WithExpiry(time.Minute))

	first, _ := inFlight.Allow()
	if _, err := inFlight.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	_, ok := inFlight.Allow()
	fmt.Println("third:", ok, "of", inFlight.InFlight())

	first.Release()
	_, ok = inFlight.Allow()
	fmt.Println("after a release:", ok)
	// Output:
	// third: false of 2
	// after a release: true
}
