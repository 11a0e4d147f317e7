// Package probe finds out how much a service can take.
//
// [Run] calls a function at rates that it raises in steps until the latency or the errors
// break a goal, closes in on the knee, and repeats that: the result is a capacity with a
// range, and the latency at every rate that was tried.
//
//	report, err := probe.Run(ctx, func(ctx context.Context) error {
//		return db.QueryRowContext(ctx, "SELECT …").Scan(&row)
//	}, probe.Options{Now: time.Now})
//	fmt.Println(report.Capacity, report.Low, report.High)
//
// The load is open: when each call begins is fixed before the step begins, as if many
// clients that know nothing of each other made them. A slow answer does not delay the
// next call, and latency counts from the instant at which a call was due, so that the
// waits which a slow service causes are measured and not left out.
//
// It is careful: a step ends as soon as it cannot hold any more, what is in flight is
// bounded, so are the time and the number of calls, and it stops when the target does not
// recover from a step. Load only what you may.
package probe
