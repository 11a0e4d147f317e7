package api

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
)

// parent reads the header fields traceparent and tracestate of W3C.
var parent propagation.TraceContext

// traced lets an endpoint answer, in a span if there is a tracer. A span names the
// endpoint and never what a client wrote: no path, no key, no name of a rule.
func (h *handler) traced(found *route, w http.ResponseWriter, r *http.Request) {
	if h.options.Tracer == nil || found.public || found.free {
		found.handle(w, r)
		return
	}
	ctx := parent.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := h.options.Tracer.Start(ctx, found.method+" "+found.path, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", found.method), attribute.String("http.route", found.path)))
	seen := &statusSeen{ResponseWriter: w, status: http.StatusInternalServerError} // of a handler that panics
	defer func() {
		span.SetAttributes(attribute.Int("http.response.status_code", seen.status))
		if seen.status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(seen.status))
		}
		span.End()
	}()
	found.handle(seen, r.WithContext(ctx))
	if !seen.written {
		seen.status = http.StatusOK
	}
}

// annotate tells the span of a request what was decided.
func (h *handler) annotate(r *http.Request, d *engine.Decision) {
	if h.options.Tracer != nil {
		sluiceotel.Annotate(r.Context(), *d)
	}
}

// annotateBatch tells it how many decisions there were, and how many refused.
func (h *handler) annotateBatch(r *http.Request, x *exchange) {
	if h.options.Tracer != nil {
		trace.SpanFromContext(r.Context()).SetAttributes(
			attribute.Int("sluice.batch", len(x.parsed.items)), attribute.Int("sluice.batch.denied", x.denied))
	}
}

// statusSeen remembers the status of an answer.
type statusSeen struct {
	http.ResponseWriter
	status  int
	written bool
}

// WriteHeader implements [http.ResponseWriter].
func (s *statusSeen) WriteHeader(status int) {
	if !s.written {
		s.status, s.written = status, true
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (s *statusSeen) Write(p []byte) (int, error) {
	if !s.written {
		s.status, s.written = http.StatusOK, true
	}
	return s.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (s *statusSeen) Unwrap() http.ResponseWriter { return s.ResponseWriter }
