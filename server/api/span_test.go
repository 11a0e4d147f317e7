package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// traces returns a handler whose spans can be read.
func traces(t *testing.T, f *fake) (http.Handler, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	t.Cleanup(func() { _ = provider.Shutdown(t.Context()) })
	return New(f, Options{Tracer: provider.Tracer("test")}), recorder
}

// told returns what a span says, in one text.
func told(s sdktrace.ReadOnlySpan) string {
	text := s.Name()
	for _, a := range s.Attributes() {
		text += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
	}
	return text
}

func TestSpans(t *testing.T) {
	const parentID, traceID = "00f067aa0ba902b7", "4bf92f3577b34da6a3ce929d0e0e4736"
	withParent := func(r *http.Request) { r.Header.Set("Traceparent", "00-"+traceID+"-"+parentID+"-01") }
	const secret = "s3cr3t"
	for _, tt := range []struct {
		method, target, body string
		says                 []string
	}{
		{"POST", "/v1/check", login, []string{"POST /v1/check http.request.method=POST http.route=/v1/check", "sluice.allowed=true", "sluice.rule=login", "sluice.limit=per-minute", "http.response.status_code=200"}},
		{"POST", "/v1/check?status=429", strings.Replace(login, "}", `,"cost":6}`, 1), []string{"sluice.allowed=false", "sluice.reason=never", "http.response.status_code=429"}},
		{"POST", "/v1/check", `{"requests":[` + login + `,{"path":"/login","method":"POST","ip":"192.0.2.9","cost":9}]}`, []string{"sluice.batch=2", "sluice.batch.denied=1"}},
		{"POST", "/v1/check", `{"path":"/api/x","headers":{"X-Api-Key":"` + secret + `"}}`, []string{"sluice.rule=api"}},
		{"POST", "/v1/peek", login, []string{"POST /v1/peek", "sluice.rule=login"}},
		{"POST", "/v1/explain", login, []string{"POST /v1/explain", "sluice.rule=login"}},
		{"POST", "/v1/reserve", login, []string{"POST /v1/reserve", "sluice.allowed=true"}},
		{"POST", "/v1/reset", login, []string{"POST /v1/reset", "status_code=204"}},
		{"GET", "/v1/rules/" + secret, "", []string{"GET /v1/rules/{name}", "http.route=/v1/rules/{name}", "status_code=404"}},
		{"POST", "/v1/check", `{"pth":1}`, []string{"status_code=400"}},
	} {
		h, recorder := traces(t, newFake(t, sample, nil))
		ask(h, tt.method, tt.target, tt.body, withParent)
		spans := recorder.Ended()
		if len(spans) != 1 {
			t.Fatalf("%s: %d spans", tt.target, len(spans))
		}
		s, text := spans[0], told(spans[0])
		for _, part := range tt.says {
			if !strings.Contains(text, part) {
				t.Errorf("%s %s: the span says %q, not %q", tt.target, tt.body, text, part)
			}
		}
		if strings.Contains(text, secret) || strings.Contains(text, "192.0.2.1") {
			t.Errorf("%s: the span tells a key: %q", tt.target, text)
		}
		if p := s.Parent(); p.SpanID().String() != parentID || p.TraceID().String() != traceID || !p.IsRemote() {
			t.Errorf("%s: the parent is %v of %v", tt.target, p.SpanID(), p.TraceID())
		}
	}
}

// Nobody needs spans of those who ask all the time, and of a request that nobody decided the
// span says so.
func TestSpansOfHealthAndFailure(t *testing.T) {
	h, recorder := traces(t, newFake(t, sample, failing{errStore}))
	for _, path := range []string{"/healthz", "/readyz", "/v1/openapi.json"} {
		ask(h, "GET", path, "")
	}
	if spans := recorder.Ended(); len(spans) != 0 {
		t.Errorf("%d spans of health", len(spans))
	}
	ask(h, "POST", "/v1/refund", strings.Replace(login, "}", `,"cost":1}`, 1))
	spans := recorder.Ended()
	if len(spans) != 1 || spans[0].Status().Code != codes.Error || strings.Contains(spans[0].Status().Description, "fire") {
		t.Errorf("%d spans, %+v", len(spans), spans[0].Status())
	}
}

// A handler that panics leaves a span that tells of a fault.
func TestSpanOfPanic(t *testing.T) {
	f := newFake(t, sample, nil)
	f.decided = func() { panic("a fault of ours") }
	h, recorder := traces(t, f)
	if w := ask(h, "POST", "/v1/check", login); w.Code != http.StatusInternalServerError {
		t.Errorf("status %d", w.Code)
	}
	if spans := recorder.Ended(); len(spans) != 1 || spans[0].Status().Code != codes.Error {
		t.Errorf("%d spans", len(spans))
	}
}
