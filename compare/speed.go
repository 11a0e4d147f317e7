package compare

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// Measure adds what a decision of each limit takes on this machine, in one goroutine and
// over a thousand keys: the best of some rounds, a rough figure, and another one every
// time. It takes about a second; now is time.Now.
func (r *Report) Measure(ctx context.Context, now func() time.Time) error {
	names := make([]string, 1000)
	for i := range names {
		names[i] = "key-" + strconv.Itoa(i)
	}
	for i := range r.Results {
		limiter := sluice.NewKeyed(r.Results[i].Limit, sluice.WithStore(memstore.New()))
		best := time.Duration(math.MaxInt64)
		const rounds, perKey = 5, 10
		for range rounds {
			begin := now()
			for range perKey {
				for _, name := range names {
					if _, err := limiter.Allow(ctx, name); err != nil {
						return err
					}
				}
			}
			best = min(best, now().Sub(begin))
		}
		r.Results[i].Nanoseconds = round(float64(best.Nanoseconds()) / float64(perKey*len(names)))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
