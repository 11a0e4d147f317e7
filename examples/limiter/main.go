// Limiter shows a limiter at work: ten requests in a row against five per
// second with a burst of three, first refused when they are too many, then
// slowed down.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/sluice-limiter/sluice"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	limit := sluice.PerSecond(5).WithBurst(3)

	fmt.Printf("Refusing what is over %v:\n", limit)
	users := sluice.NewKeyed(limit)
	for i := range 5 {
		d, err := users.Allow(ctx, "ann")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if d.Allowed {
			fmt.Printf("  ann, request %d: allowed, %d left\n", i+1, d.Remaining())
		} else {
			fmt.Printf("  ann, request %d: denied, retry after %v\n", i+1, d.RetryAfter().Round(time.Millisecond))
		}
	}
	if d, err := users.Allow(ctx, "bob"); err == nil && d.Allowed {
		fmt.Printf("  bob, request 1: allowed, %d left, as every key has its own budget\n", d.Remaining())
	}

	fmt.Printf("\nSlowing down to %v (Ctrl-C stops):\n", limit)
	limiter := sluice.NewLimiter(limit)
	start := time.Now()
	for i := range 10 {
		if err := limiter.Wait(ctx); errors.Is(err, context.Canceled) {
			fmt.Println("  stopped")
			return
		}
		fmt.Printf("  request %2d after %5v\n", i+1, time.Since(start).Round(10*time.Millisecond))
	}
}
