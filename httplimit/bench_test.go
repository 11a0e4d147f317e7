package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// plainWriter is a response that costs nothing, so that only the middleware does.
type plainWriter struct{ header http.Header }

func (w *plainWriter) Header() http.Header         { return w.header }
func (w *plainWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *plainWriter) WriteHeader(int)             {}

var bare http.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

func newRules(t testing.TB, c rule.Config, opts ...engine.Option) *engine.Engine {
	t.Helper()
	set, err := rule.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// doors are the rungs of the ladder with a limit that is never used up.
func doors(t testing.TB) map[string]http.Handler {
	many := sluice.PerSecond(1e9)
	e := newRules(t, rule.Config{Rules: []rule.Rule{{
		Name: "api", Match: rule.Match{Paths: []string{"/api/*"}}, Key: []string{"ip"}, Limits: []rule.Limit{{Limit: many}},
	}}})
	return map[string]http.Handler{
		"bare":           bare,
		"ByIP":           httplimit.ByIP(many)(bare),
		"ByIP, proxies":  httplimit.ByIP(many, httplimit.TrustProxies(prefixes("192.0.2.0/24")...))(bare),
		"ByIP, draft-06": httplimit.ByIP(many, httplimit.Headers(rule.HeadersDraft06))(bare),
		"Rules":          httplimit.Rules(e)(bare),
	}
}

func newGet(path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = "192.0.2.17:40000"
	r.Header.Set("X-Forwarded-For", "198.51.100.7, 203.0.113.200")
	return r
}

func BenchmarkMiddleware(b *testing.B) {
	for name, h := range doors(b) {
		b.Run(name, func(b *testing.B) {
			w := &plainWriter{http.Header{}}
			r := newGet("/api/v1/things")
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

// TestAllocations: an allowed request takes no more than two pieces of memory: its key
// and what it is told.
func TestAllocations(t *testing.T) {
	if !counted {
		t.Skip("the race detector allocates")
	}
	for name, h := range doors(t) {
		if name == "ByIP, draft-06" {
			continue // three fields, made to be readable rather than fast
		}
		w := &plainWriter{http.Header{}}
		r := newGet("/api/v1/things")
		n := testing.AllocsPerRun(500, func() {
			clear(w.header)
			h.ServeHTTP(w, r)
		})
		if n > 2 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if told := w.header["Ratelimit"]; len(told) != 1 && name != "bare" {
			t.Errorf("%s: told %q", name, told)
		}
	}
}
