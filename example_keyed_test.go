package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
)

func ExampleNewKeyed() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerMinute(2), sluice.WithClock(newYear))
	for _, user := range []string{"ann", "ann", "ann", "bob"} {
		d, err := users.Allow(ctx, user)
		if err != nil {
			fmt.Println(err) // it could not be decided; a denial is no error
			return
		}
		fmt.Println(user, d.Allowed, d.RetryAfter())
	}
	// Output:
	// ann true 0s
	// ann true 0s
	// ann false 30s
	// bob true 0s
}

func ExampleKeyed_AllowN() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerMinute(10), sluice.WithClock(newYear))
	for _, cost := range []int64{7, 7, 3, 11} {
		d, err := users.AllowN(ctx, "ann", cost)
		fmt.Println("cost", cost, d.Allowed, d.Remaining(), d.Reason, err)
	}
	// Output:
	// cost 7 true 3  <nil>
	// cost 7 false 3 limited <nil>
	// cost 3 true 0  <nil>
	// cost 11 false 0 never <nil>
}

func ExampleKeyed_Peek() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerMinute(10), sluice.WithClock(newYear))
	users.AllowN(ctx, "ann", 4)
	for range 2 { // spends nothing
		d, err := users.Peek(ctx, "ann")
		fmt.Println(d.Allowed, d.Remaining(), err)
	}
	// Output:
	// true 6 <nil>
	// true 6 <nil>
}

func ExampleKeyed_Refund() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerMinute(10), sluice.WithClock(newYear))
	users.AllowN(ctx, "ann", 10)
	if err := users.Refund(ctx, "ann", 4); err != nil { // the request failed: for nothing
		fmt.Println(err)
	}
	d, _ := users.Peek(ctx, "ann")
	fmt.Println(d.Remaining())
	// Output: 4
}

func ExampleKeyed_Reset() {
	ctx := context.Background()
	logins := sluice.NewKeyed(sluice.PerHour(3), sluice.WithClock(newYear))
	logins.AllowN(ctx, "ann", 3)
	if err := logins.Reset(ctx, "ann"); err != nil { // the right password at last
		fmt.Println(err)
	}
	d, _ := logins.Peek(ctx, "ann")
	fmt.Println(d.Remaining())
	// Output: 3
}

func ExampleKeyed_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	users := sluice.NewKeyed(sluice.PerHour(1))
	fmt.Println(users.Wait(ctx, "ann"))

	var limited *sluice.LimitedError
	if err := users.Wait(ctx, "ann"); errors.As(err, &limited) {
		fmt.Println(limited.Key, "is limited to", limited.Decision.Limit())
	}
	// Output:
	// <nil>
	// ann is limited to 1/h
}

func ExampleKeyed_Reserve() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerSecond(10), sluice.WithClock(newYear))
	for range 2 {
		r, err := users.Reserve(ctx, "ann", 10)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.OK(), "go ahead in", r.Delay())
	}
	// Output:
	// true go ahead in 0s
	// true go ahead in 1s
}

func ExampleWithLimits() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerSecond(10),
		sluice.WithLimits(sluice.PerHour(15)), sluice.WithClock(newYear))
	for _, cost := range []int64{10, 10} {
		d, err := users.AllowN(ctx, "ann", cost)
		fmt.Println(d.Allowed, "by", d.Limit(), d.RetryAfter(), err)
	}
	// Output:
	// true by 10/s 0s <nil>
	// false by 15/h 20m0s <nil>
}

func ExampleKeyed_SetLimit() {
	ctx := context.Background()
	users := sluice.NewKeyed(sluice.PerMinute(10), sluice.WithClock(newYear))
	users.AllowN(ctx, "ann", 10)
	if err := users.SetLimit(sluice.PerMinute(20), sluice.PerDay(1000)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(users.Limits())
	// Output: [20/m 1000/d]
}

// denials counts those who are denied.
type denials map[string]int

func (n denials) Observe(key string, _ int64, d sluice.Decision) {
	if !d.Allowed {
		n[key]++ // one goroutine here; a real one would lock
	}
}

func ExampleWithObserver() {
	ctx := context.Background()
	seen := denials{}
	users := sluice.NewKeyed(sluice.PerHour(1), sluice.WithObserver(seen))
	for range 3 {
		users.Allow(ctx, "ann")
	}
	users.Allow(ctx, "bob")
	fmt.Println(seen)
	// Output: map[ann:2]
}

func ExampleLimitedError() {
	ctx := context.Background()
	banned := sluice.NewLimiter(sluice.MustParse("0/s"))
	err := banned.Wait(ctx)
	fmt.Println(err, errors.Is(err, sluice.ErrLimited))

	users := sluice.NewKeyed(sluice.PerSecond(1))
	_, err = users.Allow(ctx, "")
	fmt.Println(err, errors.Is(err, sluice.ErrKey))
	_, err = users.AllowN(ctx, "ann", -1)
	fmt.Println(err, errors.Is(err, sluice.ErrCost))
	// Output:
	// sluice: limited: 0/s admits nothing true
	// sluice: store: check 0: key of 0 bytes: key must be 1 to 1024 bytes long true
	// sluice: store: check 0: cost -1: cost must be 0 to 1e15 true
}
