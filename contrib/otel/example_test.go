package sluiceotel_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/sluice-limiter/sluice"
	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

func Example() {
	ctx := context.Background()
	reader := metric.NewManualReader() // in production: an exporter
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	metrics, err := sluiceotel.New(provider.Meter("sluice"))
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Close()
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "api",
		Key:    []string{"user"},
		Limits: []rule.Limit{{Limit: sluice.PerHour(2)}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(set, nil, engine.WithObserver(metrics))
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	for range 3 {
		d, err := e.Check(ctx, engine.Request{Method: "GET", Path: "/", User: "ann"})
		if err != nil {
			log.Print(err)
		}
		sluiceotel.Annotate(ctx, d) // on the span of the request, if there is one
	}

	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name == "sluice.cost.offered" || m.Name == "sluice.cost.admitted" {
			fmt.Println(m.Name, m.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
		}
	}
	// Unordered output:
	// sluice.cost.offered 3
	// sluice.cost.admitted 2
}
