package metrics

import "github.com/prometheus/client_golang/prometheus"

// spanCounter counts spans by what became of them.
func spanCounter() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_trace_spans_total", Help: "Spans that were sent to the collector (exported), and those that could not be (lost).",
	}, []string{"outcome"})
	c.WithLabelValues("exported")
	c.WithLabelValues("lost")
	return c
}

// Spans notes that the collector has got n spans, or that it could not be told of them.
func (m *Metrics) Spans(n int, lost bool) {
	outcome := "exported"
	if lost {
		outcome = "lost"
	}
	m.spans.WithLabelValues(outcome).Add(float64(n))
}
