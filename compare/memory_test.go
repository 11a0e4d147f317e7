package compare_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestMemory: the bytes per key that a report tells are about those that a store of a few
// thousand keys needs.
func TestMemory(t *testing.T) {
	const keys = 1500
	r := run(t, "edge", "20/s", 1)
	for _, x := range r.Results {
		now := time.Unix(1_000_000_000, 0)
		s := memstore.New(memstore.WithClock(func() time.Time { return now }), memstore.MaxBytes(1<<30))
		limiter := sluice.NewKeyed(x.Limit, sluice.WithStore(s))
		for i := range keys {
			for range x.WorstPeriod {
				if _, err := limiter.Allow(context.Background(), "user-"+strconv.Itoa(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := float64(s.Stats().Bytes) / keys; got < 0.66*float64(x.Memory) || got > 1.34*float64(x.Memory) {
			t.Errorf("%v: %.0f bytes per key, the report says %d", x.Limit, got, x.Memory)
		}
	}
}
