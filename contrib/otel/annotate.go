package sluiceotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-limiter/sluice/engine"
)

// Annotate writes a decision to the span of ctx: which rule and limit bound, and what
// they said. A denial is an event of the span too, "sluice.denied". Keys are not
// written, since a span may go where they must not.
func Annotate(ctx context.Context, d engine.Decision) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 7), attribute.Bool("sluice.allowed", d.Allowed))
	if d.Rule != nil {
		attributes = append(attributes, attribute.String("sluice.rule", d.Rule.Name), attribute.String("sluice.limit", d.LimitName))
	}
	if d.Shadow {
		attributes = append(attributes, attribute.Bool("sluice.shadow", true))
	}
	if d.Degraded {
		attributes = append(attributes, attribute.Bool("sluice.degraded", true))
	}
	if !d.Allowed {
		attributes = append(attributes,
			attribute.String("sluice.reason", d.Reason.String()),
			attribute.Float64("sluice.retry_after", d.RetryAfter().Seconds()))
		span.AddEvent("sluice.denied", trace.WithAttributes(attributes...))
	}
	span.SetAttributes(attributes...)
}
