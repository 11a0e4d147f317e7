// Package metrics is what the server tells Prometheus. Names and labels are an
// interface that dashboards and alerts rely on: docs/OPERATIONS.md lists them. No label
// ever holds a key, a path or anything else that a client can choose.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	sluiceprometheus "github.com/sluice-limiter/sluice/contrib/prometheus"
)

// Metrics is one registry with everything in it.
type Metrics struct {
	// Decisions counts decisions by rule; give it to the engine.
	Decisions *sluiceprometheus.Observer

	registry *prometheus.Registry
	doors    *prometheus.HistogramVec
	shed     prometheus.Counter
	broken   prometheus.Counter
	store    storeMetrics
	reloads  reloadMetrics
	load     *Load
	memory   *memories
	spans    *prometheus.CounterVec
}

// Build says which program runs.
type Build struct{ Version, Revision, GoVersion string }

// New returns a registry with all metrics that need nothing else.
func New(b Build) *Metrics {
	m := &Metrics{
		Decisions: sluiceprometheus.New(),
		registry:  prometheus.NewRegistry(),
		doors: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sluice_decision_duration_seconds",
			Help:    "Time from the arrival of a request for decisions at a door to its answer. A batch is one request.",
			Buckets: fine,
		}, []string{"door"}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_shed_requests_total",
			Help: "Requests to this server that were answered with 503 because too many were in flight.",
		}),
		broken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_broken_requests_total",
			Help: "Requests to this server whose header was no HTTP, too large, too slow, or ended with the connection: they were answered or cut before anything looked at them.",
		}),
		load:   NewLoad(),
		memory: newMemories(),
		spans:  spanCounter(),
	}
	m.store.init()
	m.reloads.init()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "sluice_build_info",
		Help:        "Always 1; the labels say which program runs.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "goversion": b.GoVersion},
	})
	info.Set(1)
	m.registry.MustRegister(m.Decisions, m.doors, m.shed, m.broken, m.load, m.memory, m.spans, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.store.collectors()...)
	m.registry.MustRegister(m.reloads.collectors()...)
	return m
}

// fine are bounds from 25 µs to 2.5 s.
var fine = []float64{
	.000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 2.5,
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Registry returns what is scraped: for tests, and for metrics of other doors.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Door returns where a door reports how long its requests take, in seconds.
func (m *Metrics) Door(name string) prometheus.Observer { return m.doors.WithLabelValues(name) }

// Shed counts a request that was turned away.
func (m *Metrics) Shed() { m.shed.Inc() }

// Broken counts a request that could not be read.
func (m *Metrics) Broken() { m.broken.Inc() }

// Load returns the figures for autoscalers.
func (m *Metrics) Load() *Load { return m.load }

// gauge registers a gauge that is read when somebody looks.
func (m *Metrics) gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// counter registers a counter that is read when somebody looks.
func (m *Metrics) counter(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
