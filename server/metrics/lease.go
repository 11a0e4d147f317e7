package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice/store"
)

// leaseMetrics tell what leases take from Redis, and whether it is used.
type leaseMetrics struct{ batches, taken, returned prometheus.Counter }

func (l *leaseMetrics) init() {
	l.batches = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_lease_batches_total", Help: "Batches of tokens that were taken from Redis ahead.",
	})
	l.taken = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_lease_taken_tokens_total", Help: "Tokens in them.",
	})
	l.returned = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_lease_returned_tokens_total", Help: "Tokens of them that were not needed and given back, as far as they still counted. What cannot be given back without exceeding the limit is lost, and not counted here.",
	})
}

func (l *leaseMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{l.batches, l.taken, l.returned}
}

// count looks at a call that Redis has carried out.
func (l *leaseMetrics) count(op store.Op, checks []store.Check) {
	switch op {
	case store.Lease:
		for i := range checks {
			if granted := checks[i].Granted; granted > 0 {
				l.batches.Inc()
				l.taken.Add(float64(granted))
			}
		}
	case store.Return:
		for i := range checks {
			l.returned.Add(float64(max(checks[i].Cost, 0)))
		}
	}
}
