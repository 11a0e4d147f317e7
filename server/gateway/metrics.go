package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what a gateway tells Prometheus. What rules decide is counted by the
// engine's observers, at this door as at all others. No label holds what a client can
// choose.
type Metrics struct {
	registry  prometheus.Registerer
	requests  *prometheus.CounterVec
	rejects   *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	sent      prometheus.Counter
	received  prometheus.Counter
	answers   *prometheus.CounterVec
	failures  *prometheus.CounterVec
	retries   *prometheus.CounterVec
	inFlight  *prometheus.GaugeVec
	upServers *prometheus.GaugeVec

	classes [6]prometheus.Counter // of requests, by hundreds
	times   [6]prometheus.Observer
}

// classes of statuses; the first is for exchanges that came to none.
var classes = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

func classOf(status int) int { return max(0, min(status/100, len(classes)-1)) }

// NewMetrics returns metrics that are registered at r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		registry: r,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_gateway_requests_total",
			Help: "Requests of clients, by the class of the status that they got: 2xx, 3xx, 4xx, 5xx; 429 counts as 4xx.",
		}, []string{"class"}),
		rejects: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_gateway_rejected_total",
			Help: "What clients sent that is no request, by the class of the status that it got: not well formed, too large or too slow. none: the client left before.",
		}, []string{"class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sluice_gateway_duration_seconds",
			Help:    "Time from the header of a request to the end of its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"class"}),
		sent:     prometheus.NewCounter(prometheus.CounterOpts{Name: "sluice_gateway_sent_bytes_total", Help: "Bytes of the bodies of answers."}),
		received: prometheus.NewCounter(prometheus.CounterOpts{Name: "sluice_gateway_received_bytes_total", Help: "Bytes of the bodies of requests."}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_gateway_upstream_answers_total",
			Help: "Answers of the servers of an upstream, by the class of their status.",
		}, []string{"upstream", "class"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_gateway_upstream_failures_total",
			Help: "Requests to servers of an upstream that failed: connect, no_answer, timeout, garbled, cut_off; and those for which there was no server (no_server) or no room (busy).",
		}, []string{"upstream", "kind"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_gateway_upstream_retries_total",
			Help: "Requests that were sent to a further server after one had failed.",
		}, []string{"upstream"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_gateway_upstream_in_flight",
			Help: "Requests that an upstream works on, or that wait for their turn.",
		}, []string{"upstream"}),
		upServers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_gateway_upstream_up",
			Help: "1 if the server is asked, 0 if it is down.",
		}, []string{"upstream", "server"}),
	}
	r.MustRegister(m.requests, m.rejects, m.duration, m.sent, m.received, m.answers, m.failures, m.retries, m.inFlight, m.upServers)
	for i, class := range classes {
		m.classes[i], m.times[i] = m.requests.WithLabelValues(class), m.duration.WithLabelValues(class)
	}
	for _, class := range []string{"none", "4xx", "5xx"} {
		m.rejects.WithLabelValues(class) // so that the first of them is an increase
	}
	return m
}

// Connections tells how many clients are connected, from when the gateway serves.
func (m *Metrics) Connections(open, dropped func() int64, limit int64) {
	gauge := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	gauge("sluice_gateway_connections", "Connections of clients that are open, idle ones included.", func() float64 { return float64(open()) })
	gauge("sluice_gateway_connections_limit", "How many may be; more take the places of those that have not sent a request that passed, or wait to be accepted.", func() float64 { return float64(limit) })
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sluice_gateway_connections_dropped_total", Help: "Connections that were closed to make room for others.",
	}, func() float64 { return float64(dropped()) }))
}

// done counts an exchange.
func (m *Metrics) done(x *exchange, took time.Duration) {
	class := classOf(x.status)
	m.classes[class].Inc()
	m.times[class].Observe(took.Seconds())
	if x.sent > 0 {
		m.sent.Add(float64(x.sent))
	}
	if received := x.received.Load(); received > 0 {
		m.received.Add(float64(received))
	}
}

// rejected counts what came to no exchange. The status is what it got, or zero.
func (m *Metrics) rejected(status int) { m.rejects.WithLabelValues(classes[classOf(status)]).Inc() }

// upstreamMetrics are those of one group.
type upstreamMetrics struct {
	inFlight prometheus.Gauge
	retries  prometheus.Counter
	failures *prometheus.CounterVec // by kind
	answers  [6]prometheus.Counter  // by class
	up       *prometheus.GaugeVec   // by server
	leave    func()                 // of a request that is over
}

func (m *Metrics) upstream(name string) *upstreamMetrics {
	inFlight := m.inFlight.WithLabelValues(name)
	own := prometheus.Labels{"upstream": name}
	u := &upstreamMetrics{
		inFlight: inFlight, retries: m.retries.WithLabelValues(name),
		failures: m.failures.MustCurryWith(own), up: m.upServers.MustCurryWith(own), leave: inFlight.Dec,
	}
	for i, class := range classes {
		u.answers[i] = m.answers.WithLabelValues(name, class)
	}
	return u
}

func (u *upstreamMetrics) failed(kind string) { u.failures.WithLabelValues(kind).Inc() }
