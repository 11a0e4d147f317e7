package compare

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// outcome is what became of a request.
type outcome struct {
	allowed bool
	at      int64 // when it goes ahead; when it came, if it was denied. µs since the origin
}

// longWait is longer than any limit lets anybody wait.
const longWait = int64(365 * 24 * time.Hour / time.Microsecond)

// play sends the requests of a traffic to a limit in a fresh store, one after the other.
func play(t *Traffic, limit sluice.Limit) ([]outcome, error) {
	now := t.origin
	clock := func() time.Time { return time.UnixMicro(now) }
	plans, err := sluice.NewPlans(clock(), []sluice.Limit{limit})
	if err != nil {
		return nil, err
	}
	s := memstore.New(memstore.WithClock(clock), memstore.MaxBytes(maxBytes))
	check := []store.Check{{Spec: plans[0].Specs()[0], Cost: 1}}
	if traits(limit).waits {
		check[0].MaxWait = longWait
	}
	out := make([]outcome, len(t.requests))
	for i, r := range t.requests {
		now = t.origin + r.at
		check[0].Key = t.keys[r.key]
		if err := s.Take(context.Background(), store.Spend, check); err != nil {
			return nil, err
		}
		v := check[0].Verdict
		out[i] = outcome{v.Allowed, r.at}
		if v.Allowed {
			out[i].at += v.Wait
		}
	}
	return out, nil
}

// maxBytes is so much memory that no key is forgotten.
const maxBytes = 4 << 30

// passed returns when the admitted requests of each key went ahead, in order.
func passed(t *Traffic, out []outcome) [][]int64 {
	byKey := make([][]int64, len(t.keys))
	for i, o := range out {
		if o.allowed {
			key := t.requests[i].key
			byKey[key] = append(byKey[key], o.at)
		}
	}
	for _, times := range byKey {
		slices.Sort(times)
	}
	return byKey
}
