//go:build !race

package rls_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice/server/rls"
)

// TestAllocsOfRefusedCallsEnd: a call without a token may say that it has a thousand
// hours of time. Nothing may stay behind of it for so long.
func TestAllocsOfRefusedCallsEnd(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	asked := &tokens{}
	asked.needed.Store(true)
	w.serve(t, rls.New(rls.Options{Engine: w.engine}), rls.ServerOptions{Tokens: asked, MaxMessage: 1 << 20, MaxStreams: 10})
	calls := func(n int) {
		for range n {
			ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
			if _, err := w.client.ShouldRateLimit(ctx, request("d", d("user=ann"))); status.Code(err) != codes.Unauthenticated {
				t.Fatal(err)
			}
			cancel()
		}
	}
	const n = 2000
	calls(100)
	before := objects()
	calls(n)
	if more := objects() - before; more > n/2 {
		t.Errorf("%d calls were refused, and %d objects are left of them", n, more)
	}
}

// objects returns how many are in use.
func objects() int64 {
	runtime.GC()
	runtime.GC() // of pools too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapObjects)
}
