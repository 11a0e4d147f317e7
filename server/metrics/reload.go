package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloadMetrics are about the rules in force.
type reloadMetrics struct {
	total   *prometheus.CounterVec
	success prometheus.Gauge
	time    prometheus.Gauge
	info    *prometheus.GaugeVec
}

func (r *reloadMetrics) init() {
	r.total = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_reloads_total", Help: "Attempts to read the rules: success, or failure if what was in force stays.",
	}, []string{"outcome"})
	r.total.WithLabelValues("success")
	r.total.WithLabelValues("failure")
	r.success = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_reload_last_success", Help: "1 if the last attempt to read the rules succeeded.",
	})
	r.time = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_reload_last_success_timestamp_seconds", Help: "When rules were last read with success.",
	})
	r.info = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "sluice_rules_info", Help: "Always 1; the label is the hash of the rules in force: instances that share budgets should have the same.",
	}, []string{"hash"})
}

func (r *reloadMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{r.total, r.success, r.time, r.info}
}

// InForce notes which rules are.
func (m *Metrics) InForce(hash string) {
	m.reloads.info.Reset()
	m.reloads.info.WithLabelValues(hash).Set(1)
}

// Reloaded notes that rules were read with success.
func (m *Metrics) Reloaded(now time.Time) {
	r := &m.reloads
	r.total.WithLabelValues("success").Inc()
	r.success.Set(1)
	r.time.Set(float64(now.UnixMilli()) / 1000)
}

// ReloadFailed notes that rules could not be read.
func (m *Metrics) ReloadFailed() {
	m.reloads.total.WithLabelValues("failure").Inc()
	m.reloads.success.Set(0)
}
