package sluiceprometheus_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluice-limiter/sluice"
	sluiceprometheus "github.com/sluice-limiter/sluice/contrib/prometheus"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

func Example() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "api",
		Key:    []string{"user"},
		Limits: []rule.Limit{{Limit: sluice.PerHour(2)}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	metrics := sluiceprometheus.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	e, err := engine.New(set, nil, engine.WithObserver(metrics))
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	for range 3 {
		if _, err := e.Check(context.Background(), engine.Request{Method: "GET", Path: "/", User: "ann"}); err != nil {
			log.Print(err)
		}
	}

	page := httptest.NewRecorder() // what /metrics shows
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "sluice_decisions_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// sluice_decisions_total{outcome="allowed",rule="api"} 2
	// sluice_decisions_total{outcome="denied",rule="api"} 1
	// sluice_decisions_total{outcome="shadow_denied",rule="api"} 0
	// sluice_decisions_total{outcome="undecided",rule="api"} 0
}
