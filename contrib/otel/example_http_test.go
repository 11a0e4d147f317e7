package sluiceotel_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sluice-limiter/sluice"
	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// The spans of requests tell what the middleware has decided, also of those that it let
// through.
func ExampleAnnotate() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "api", Limits: []rule.Limit{{Limit: sluice.PerHour(1)}}}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	mux := http.NewServeMux()
	handler := httplimit.Rules(e, httplimit.Decided(func(r *http.Request, d engine.Decision) { sluiceotel.Annotate(r.Context(), d) }))(mux)

	spans := tracetest.NewSpanRecorder() // in production: an exporter, and the span of otelhttp
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("service")
	for range 2 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ctx, span := tracer.Start(r.Context(), "GET /")
		handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		span.End()
	}
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			if a.Key == "sluice.allowed" || a.Key == "sluice.rule" {
				fmt.Println(a.Key, a.Value.String())
			}
		}
	}
	// Output:
	// sluice.allowed true
	// sluice.rule api
	// sluice.allowed false
	// sluice.rule api
}
