package app_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-limiter/sluice/server/config"
)

// gathered is what a collector was sent.
type gathered struct {
	mu      sync.Mutex
	spans   []*spans.Span
	service string
	status  int
}

func (g *gathered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, rs := range request.ResourceSpans {
		for _, a := range rs.Resource.Attributes {
			if a.Key == "service.name" {
				g.service = a.Value.GetStringValue()
			}
		}
		for _, s := range rs.ScopeSpans {
			g.spans = append(g.spans, s.Spans...)
		}
	}
	w.WriteHeader(g.status)
}

// all returns what has come, and from which service.
func (g *gathered) all() ([]*spans.Span, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.spans), g.service
}

func (g *gathered) names() []string {
	all, _ := g.all()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	slices.Sort(names)
	return names
}

// newCollector answers with a status until the test ends.
func newCollector(t *testing.T, status int) (*gathered, string) {
	t.Helper()
	g := &gathered{status: status}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return g, server.URL + "/v1/traces"
}

// Spans reach a collector before the server has ended, and the call to Redis is a child of
// the request that made it.
func TestSpansReachTheCollector(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	g, url := newCollector(t, http.StatusOK)
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 30s, lease: {on: false}, trace: {endpoint: '"+url+"'}}\n"+shared)
	r := start(t, config.Sources{Path: f.path})
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	if response, text := r.do("POST", "/v1/check", `{"path":"/"}`, "Traceparent", "00-"+traceID+"-00f067aa0ba902b7-01"); response.StatusCode != 200 {
		t.Fatal(response.Status, text)
	}
	r.do("POST", "/v1/check", `{"path":"/"}`, "Traceparent", "00-"+traceID+"-00f067aa0ba902b7-00") // the caller wants none
	r.http.CloseIdleConnections()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	all, service := g.all()
	if service != "sluice" {
		t.Errorf("spans of the service %q", service)
	}
	names := g.names()
	if !slices.Contains(names, "EVALSHA") || slices.Index(names, "POST /v1/check") != len(names)-1 {
		t.Fatalf("spans %v: want one check and its calls", names)
	}
	server := all[slices.IndexFunc(all, func(s *spans.Span) bool { return s.Name == "POST /v1/check" })]
	for _, s := range all {
		if hex.EncodeToString(s.TraceId) != traceID {
			t.Errorf("%s is of the trace %x", s.Name, s.TraceId)
		}
		if s != server && string(s.ParentSpanId) != string(server.SpanId) {
			t.Errorf("%s is no child of the request", s.Name)
		}
	}
	if text := fmt.Sprint(server.Attributes); !strings.Contains(text, "sluice.rule") {
		t.Errorf("the request says %s", text)
	}
}

// A collector that fails costs spans, and nothing else: requests are answered, the server
// ends in good order, and log and metrics tell.
func TestCollectorFails(t *testing.T) {
	_, url := newCollector(t, http.StatusInternalServerError)
	r := start(t, config.Sources{Flags: map[string]string{"trace.endpoint": url}})
	r.do("POST", "/v1/check", `{"path":"/"}`)
	if got := r.metric(`sluice_trace_spans_total`); got == "" {
		t.Error("no metric of spans")
	}
	r.http.CloseIdleConnections()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.log.String(), "spans could not be sent") {
		t.Errorf("the log does not tell:\n%s", r.log)
	}
}

// With a share of 0 only those get a span whose caller wants one.
func TestShareOfSpans(t *testing.T) {
	g, url := newCollector(t, http.StatusOK)
	r := start(t, config.Sources{Flags: map[string]string{"trace.endpoint": url, "trace.share": "0"}})
	for range 20 {
		r.do("POST", "/v1/check", `{"path":"/"}`)
	}
	r.do("POST", "/v1/explain", `{"path":"/"}`, "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	r.http.CloseIdleConnections()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if names := g.names(); len(names) != 1 || names[0] != "POST /v1/explain" {
		t.Errorf("spans %v", names)
	}
}
