// Worker drains a queue at an even rate: jobs may come in bursts, and what they
// call gets one every 20 ms. A job that would have to wait for more than 150 ms is
// put back instead.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/sluice-limiter/sluice"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run(ctx, os.Stdout)
}

func run(ctx context.Context, out io.Writer) {
	pace := sluice.NewLimiter(sluice.MustParse("leaky_bucket 50/s burst=100 max_wait=150ms"))
	start := time.Now()
	var queue []*sluice.Reservation
	for job := range 10 { // a burst: each is given its turn
		turn := pace.Reserve()
		if !turn.OK() {
			fmt.Fprintf(out, "job %d: put back, the queue is too long\n", job)
			continue
		}
		queue = append(queue, turn)
	}
	for job, turn := range queue {
		if err := wait(ctx, turn.Delay()); err != nil {
			fmt.Fprintf(out, "job %d: stopped\n", job)
			turn.Cancel()
			continue
		}
		fmt.Fprintf(out, "job %d: done after %v\n", job, time.Since(start).Round(20*time.Millisecond))
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
