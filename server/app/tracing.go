package app

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// openTracing sends spans to the collector that the settings name. Without one there is
// no tracer, and no request pays for it.
func (a *App) openTracing(ctx context.Context) error {
	if a.config.Trace.Endpoint == "" {
		return nil
	}
	collector, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(a.config.Trace.Endpoint),
		otlptracehttp.WithTimeout(5*time.Second), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return err
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "sluice"), attribute.String("service.version", Build().Version)), resource.WithFromEnv())
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&spanSender{SpanExporter: collector, metrics: a.metrics, logger: a.logger}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(a.config.Trace.Share))),
		sdktrace.WithResource(about))
	a.onEnd("spans", provider.Shutdown)
	a.tracer = provider.Tracer("github.com/sluice-limiter/sluice/server")
	return nil
}

// spanSender counts what it sends. A collector that fails is no fault of a request: the
// log tells of it, now and then.
type spanSender struct {
	sdktrace.SpanExporter
	metrics *metrics.Metrics
	logger  *slog.Logger
	warned  time.Time // the SDK sends one batch at a time
}

// ExportSpans implements [sdktrace.SpanExporter].
func (s *spanSender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	s.metrics.Spans(len(spans), err != nil)
	if err != nil && now().Sub(s.warned) >= time.Minute {
		s.warned = now()
		s.logger.Warn("spans could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}

// tracedScripter gives each call that one request makes to Redis a span of its own. A
// call that carries the decisions of several belongs to none of them, and has none.
type tracedScripter struct {
	redisstore.Scripter
	tracer trace.Tracer
}

// traceRedis wraps s, if there is a tracer.
func (a *App) traceRedis(s redisstore.Scripter) redisstore.Scripter {
	if a.tracer == nil {
		return s
	}
	return &tracedScripter{s, a.tracer}
}

// EvalSha implements [redisstore.Scripter].
func (t *tracedScripter) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	return t.call(ctx, "EVALSHA", func(ctx context.Context) ([]int64, error) { return t.Scripter.EvalSha(ctx, sha, keys, args) })
}

// Eval implements [redisstore.Scripter].
func (t *tracedScripter) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	return t.call(ctx, "EVAL", func(ctx context.Context) ([]int64, error) { return t.Scripter.Eval(ctx, script, keys, args) })
}

func (t *tracedScripter) call(ctx context.Context, name string, send func(context.Context) ([]int64, error)) ([]int64, error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return send(ctx)
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", name)))
	defer span.End()
	reply, err := send(ctx)
	if err != nil { // what Redis says may name keys: the log has it
		span.SetStatus(codes.Error, "the call failed")
	}
	return reply, err
}
