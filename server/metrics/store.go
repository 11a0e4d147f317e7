package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// storeMetrics are about a store that is not in this process.
type storeMetrics struct {
	takes    *prometheus.CounterVec
	duration prometheus.Histogram
	errors   *prometheus.CounterVec
	leases   leaseMetrics
}

func (s *storeMetrics) init() {
	s.leases.init()
	s.takes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_store_takes_total",
		Help: "Calls of a layer of the store: those that leases may answer (lease), and what goes on to Redis (redis), refills of leases included.",
	}, []string{"layer"})
	s.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "sluice_store_call_duration_seconds",
		Help:    "Time of a call to Redis. One call carries many decisions when there are many at a time, and denials that are remembered need none.",
		Buckets: fine,
	})
	s.errors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_store_errors_total",
		Help: "Calls of the layer redis that failed: timeout, busy if too many waited, state if a value cannot be read, script if the server refused it, or connection.",
	}, []string{"kind"})
	for _, kind := range kinds {
		s.errors.WithLabelValues(kind)
	}
}

func (s *storeMetrics) collectors() []prometheus.Collector {
	return append(s.leases.collectors(), s.takes, s.duration, s.errors)
}

// Layers of the store.
const (
	LayerLease = "lease" // what leases may answer
	LayerRedis = "redis" // what goes on to Redis
)

// Store counts the calls of a layer of the store; errors and leases only of the last one.
func (m *Metrics) Store(layer string, s store.Store) store.Store {
	c := &counted{Store: s, takes: m.store.takes.WithLabelValues(layer)}
	if layer == LayerRedis {
		c.errors, c.leases = m.store.errors, &m.store.leases
	}
	return c
}

type counted struct {
	store.Store
	takes  prometheus.Counter
	errors *prometheus.CounterVec // nil, as leases is, of all layers but the last
	leases *leaseMetrics
}

func (c *counted) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	c.takes.Inc()
	err := c.Store.Take(ctx, op, checks)
	switch {
	case c.errors == nil:
	case err == nil:
		c.leases.count(op, checks)
	default:
		if kind := kindOf(err); kind != "" {
			c.errors.WithLabelValues(kind).Inc()
		}
	}
	return err
}

// Scripter times the calls to Redis.
func (m *Metrics) Scripter(s redisstore.Scripter, now func() time.Time) redisstore.Scripter {
	return &timed{s, now, &m.store}
}

type timed struct {
	redisstore.Scripter
	now     func() time.Time
	metrics *storeMetrics
}

func (t *timed) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	defer t.done(t.now())
	return t.Scripter.EvalSha(ctx, sha, keys, args)
}

func (t *timed) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	defer t.done(t.now())
	return t.Scripter.Eval(ctx, script, keys, args)
}

func (t *timed) done(start time.Time) {
	t.metrics.duration.Observe(t.now().Sub(start).Seconds())
}

// kinds of errors.
var kinds = []string{"timeout", "busy", "state", "script", "connection"}

// kindOf sorts errors into few kinds: a label must not grow with what servers say. What
// is the caller's fault, or whim, has none.
func kindOf(err error) string {
	var refused *rueidis.RedisError
	switch {
	case errors.Is(err, context.Canceled), input(err):
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, redisstore.ErrBusy), errors.Is(err, store.ErrFull):
		return "busy"
	case errors.Is(err, store.ErrState):
		return "state"
	case errors.As(err, &refused):
		return "script"
	}
	return "connection"
}

func input(err error) bool {
	for _, fault := range []error{store.ErrKey, store.ErrCost, store.ErrID, store.ErrOp, store.ErrTooMany} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}
