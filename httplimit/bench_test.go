package httplimit_test

import (
	"fmt"
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
		"ByIP, counting": httplimit.ByIP(sluice.PerDay(1e9))(bare), // what remains is another number each time
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

// BenchmarkByIPManyClients has a thousand clients, and headers that are new for each
// request, as those of a server are: what is left of the memory is theirs.
func BenchmarkByIPManyClients(b *testing.B) {
	requests := make([]*http.Request, 1000)
	for i := range requests {
		requests[i] = newGet("/api/v1/things")
		requests[i].RemoteAddr = fmt.Sprintf("192.0.%d.%d:4711", i>>8, i&255)
	}
	for name, h := range map[string]http.Handler{"bare": bare, "ByIP": httplimit.ByIP(sluice.PerSecond(1e9))(bare)} {
		b.Run(name, func(b *testing.B) {
			w := new(plainWriter)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w.header = make(http.Header)
				h.ServeHTTP(w, requests[i%len(requests)])
			}
		})
	}
}
