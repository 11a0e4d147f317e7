//go:build !race

package httplimit_test

import (
	"net/http"
	"testing"
)

// TestAllocations: an allowed request takes one piece of memory, for what it is told, and
// another one for its key if that is not written in RemoteAddr.
func TestAllocations(t *testing.T) {
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
		most := 1.0
		if name == "ByIP, proxies" {
			most = 2
		}
		if n > most {
			t.Errorf("%s: %v allocations", name, n)
		}
		if told := w.header["Ratelimit"]; len(told) != 1 && name != "bare" {
			t.Errorf("%s: told %q", name, told)
		}
	}
}
