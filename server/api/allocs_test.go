//go:build !race

package api

import (
	"net/http"
	"testing"
)

// TestCheckAllocatesNothing: a check takes no memory beyond that of the server.
func TestCheckAllocatesNothing(t *testing.T) {
	h, w := New(newFake(t, wide, nil), Options{}), &nobody{http.Header{}}
	r, reader := newRequest(oneCheck)
	got := testing.AllocsPerRun(1000, func() {
		reader.Reset(oneCheck)
		h.ServeHTTP(w, r)
	})
	if got != 0 {
		t.Errorf("%v pieces of memory per check", got)
	}
}
