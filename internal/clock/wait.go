package clock

import (
	"context"
	"math"
	"time"
)

// Sleep waits for d or for the end of the context.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Patience returns how long the context lets us wait, in µs.
func Patience(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return math.MaxInt64
	}
	return max(0, time.Until(deadline).Microseconds())
}
