package probe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/probe"
)

func ExampleRun() {
	call := func(context.Context) error { return nil } // a request, a query, a job
	report, err := probe.Run(context.Background(), call, probe.Options{
		Now:   time.Now,
		Goal:  probe.Goal{Quantile: 0.99, Latency: 10 * time.Second},
		Start: 100, Max: 200, // it goes no further, whatever the target could do
		Hold: 50 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at least %.0f/s\n", report.Low)
	// Output: at least 200/s
}
