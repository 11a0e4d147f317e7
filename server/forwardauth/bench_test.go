package forwardauth_test

import (
	"net/http"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// discard is a ResponseWriter that keeps the header only.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

func BenchmarkQuestion(b *testing.B) {
	ample := rule.Config{Rules: []rule.Rule{{Name: "all", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerSecond(1_000_000_000)}}}}}
	for name := range fields {
		b.Run(name, func(b *testing.B) {
			h, r := newHandler(b, ample, nil), question(name, "GET", "/a/b?c=d", "192.0.2.1")
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(&discard{http.Header{}}, r)
			}
		})
	}
}
