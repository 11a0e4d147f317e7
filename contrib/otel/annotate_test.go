package sluiceotel_test

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
)

func text(all []attribute.KeyValue) string {
	s := ""
	for _, a := range all {
		s += fmt.Sprintf("%s=%s ", a.Key, a.Value.String())
	}
	return s
}

// TestAnnotate: what the span of a request tells of its decision.
func TestAnnotate(t *testing.T) {
	e, err := engine.New(compile(t, login), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	spans := tracetest.NewSpanRecorder()
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test")
	for _, path := range []string{"/login", "/login", "/login", "/login", "/nowhere"} {
		ctx, span := tracer.Start(context.Background(), path)
		d, err := e.Check(ctx, engine.Request{Method: "GET", Path: path, User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		sluiceotel.Annotate(ctx, d)
		span.End()
	}
	ended := spans.Ended()
	if got, want := text(ended[0].Attributes()), "sluice.allowed=true sluice.rule=login sluice.limit=login "; got != want {
		t.Errorf("allowed: got %q, want %q", got, want)
	}
	if n := len(ended[0].Events()); n != 0 {
		t.Errorf("allowed: %d events", n)
	}
	denied := ended[3]
	var allowed, reason, retry attribute.Value
	for _, a := range denied.Attributes() {
		switch a.Key {
		case "sluice.allowed":
			allowed = a.Value
		case "sluice.reason":
			reason = a.Value
		case "sluice.retry_after":
			retry = a.Value
		}
	}
	if allowed.AsBool() || reason.AsString() != "limited" || retry.AsFloat64() <= 0 || retry.AsFloat64() > 1200 {
		t.Errorf("denied: got %s", text(denied.Attributes()))
	}
	if events := denied.Events(); len(events) != 1 || events[0].Name != "sluice.denied" || len(events[0].Attributes) != 5 {
		t.Errorf("denied: events %v", events)
	}
	if got, want := text(ended[4].Attributes()), "sluice.allowed=true "; got != want {
		t.Errorf("no rule: got %q, want %q", got, want)
	}
	sluiceotel.Annotate(context.Background(), engine.Decision{}) // no span: nothing happens
}

func TestAnnotateShadow(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	ctx, span := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test").Start(context.Background(), "x")
	d := engine.Decision{Shadow: true}
	d.Allowed, d.Degraded = true, true
	sluiceotel.Annotate(ctx, d)
	span.End()
	if got, want := text(spans.Ended()[0].Attributes()), "sluice.allowed=true sluice.shadow=true sluice.degraded=true "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
