package main

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// shop takes orders.
type shop struct {
	name     string
	db       *sql.DB
	logger   *slog.Logger
	engine   *engine.Engine
	inFlight *sluice.Concurrency

	draining atomic.Bool
	served   atomic.Int64
}

// newShop returns a shop with its own limit: what one instance can serve, whoever asks.
func newShop(s settings, db *sql.DB, logger *slog.Logger) (*shop, error) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "instance",
		Limits: []rule.Limit{{Limit: sluice.PerSecond(s.perSecond).WithBurst(max(1, s.perSecond/10)), Scope: rule.Instance}},
	}}})
	if err != nil {
		return nil, err
	}
	e, err := engine.New(set, memstore.New())
	if err != nil {
		return nil, err
	}
	return &shop{name: s.name, db: db, logger: logger, engine: e, inFlight: sluice.NewConcurrency(s.inFlight)}, nil
}

func (s *shop) close() { _ = s.engine.Close() }

func (s *shop) routes() http.Handler {
	limited := httplimit.Rules(s.engine, httplimit.NoPage())(http.HandlerFunc(s.order))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Shop-Instance", s.name)
		if s.draining.Load() {
			w.Header().Set("Connection", "close") // the gateway's next request goes to another pod
		}
		limited.ServeHTTP(w, r)
	})
	return mux
}

// ready says no when the instance is about to end. It does not ask the database: if that
// is away, no other instance has a better one.
func (s *shop) ready(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "ending", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	permit, ok := s.inFlight.Allow()
	if !ok {
		later(w)
		return
	}
	defer permit.Release()
	_, err := s.db.ExecContext(r.Context(), placeOrder, s.name)
	switch {
	case err == nil:
		s.served.Add(1)
		w.WriteHeader(http.StatusCreated)
	case errors.Is(err, sluice.ErrLimited):
		later(w)
	default:
		s.logger.Error("an order failed", "error", err)
		http.Error(w, "the order could not be written", http.StatusInternalServerError)
	}
}

// later refuses a request that the instance has no room for. Nothing has been done for it.
func later(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests", http.StatusTooManyRequests)
}

// metrics are few enough to be written by hand; a real service takes contrib/prometheus,
// whose names these are.
func (s *shop) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, r := range s.engine.Stats().Rules {
		fmt.Fprintf(w, "# TYPE sluice_cost_offered_total counter\nsluice_cost_offered_total{rule=%q} %d\n", r.Rule, r.CostOffered)
		fmt.Fprintf(w, "# TYPE sluice_cost_admitted_total counter\nsluice_cost_admitted_total{rule=%q} %d\n", r.Rule, r.CostAdmitted)
	}
	fmt.Fprintf(w, "# TYPE shop_orders_total counter\nshop_orders_total %d\n", s.served.Load())
}
