package metrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/store"
)

// granting grants leases as it is told.
type granting struct {
	granted int64
	err     error
}

func (g granting) Take(_ context.Context, op store.Op, checks []store.Check) error {
	for i := range checks {
		if op == store.Lease {
			checks[i].Granted = g.granted
		}
	}
	return g.err
}

// What leases take and give back is counted at the last layer, if it happened.
func TestLeases(t *testing.T) {
	m := metrics.New(metrics.Build{})
	take := func(layer string, g granting, op store.Op, costs ...int64) {
		checks := make([]store.Check, len(costs))
		for i, cost := range costs {
			checks[i].Cost = cost
		}
		_ = m.Store(layer, g).Take(t.Context(), op, checks)
	}
	take(metrics.LayerRedis, granting{granted: 7}, store.Lease, 1)
	take(metrics.LayerRedis, granting{granted: 5}, store.Lease, 1, 1)
	take(metrics.LayerRedis, granting{granted: 0}, store.Lease, 1) // denied
	take(metrics.LayerRedis, granting{granted: 9, err: errors.New("EOF")}, store.Lease, 1)
	take(metrics.LayerLease, granting{granted: 9}, store.Lease, 1)
	take(metrics.LayerRedis, granting{}, store.Return, 3, 1)
	take(metrics.LayerRedis, granting{}, store.Spend, 100)
	want := `
# HELP sluice_lease_batches_total Batches of tokens that were taken from Redis ahead.
# TYPE sluice_lease_batches_total counter
sluice_lease_batches_total 3
# HELP sluice_lease_returned_tokens_total Tokens of them that were not needed and given back, as far as they still counted. What cannot be given back without exceeding the limit is lost, and not counted here.
# TYPE sluice_lease_returned_tokens_total counter
sluice_lease_returned_tokens_total 4
# HELP sluice_lease_taken_tokens_total Tokens in them.
# TYPE sluice_lease_taken_tokens_total counter
sluice_lease_taken_tokens_total 17
`
	names := []string{"sluice_lease_batches_total", "sluice_lease_returned_tokens_total", "sluice_lease_taken_tokens_total"}
	if err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}
