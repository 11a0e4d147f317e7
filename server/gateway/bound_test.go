package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// blocking is a server whose answers wait until they are released.
type blocking struct {
	*httptest.Server
	release       chan struct{}
	inside, asked atomic.Int64
	most          atomic.Int64
}

func newBlocking(t *testing.T) *blocking {
	t.Helper()
	b := &blocking{release: make(chan struct{})}
	b.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		b.asked.Add(1)
		now := b.inside.Add(1)
		for m := b.most.Load(); now > m && !b.most.CompareAndSwap(m, now); m = b.most.Load() {
		}
		<-b.release
		b.inside.Add(-1)
	}))
	t.Cleanup(b.Close)
	return b
}

func TestConcurrencyOfAnUpstream(t *testing.T) {
	b := newBlocking(t)
	g := start(t, single(b.URL, "concurrency: {limit: 2}"))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { g.get("/") })
	}
	eventually(t, "both are there", func() bool { return b.inside.Load() == 2 })
	res, text := g.get("/")
	if res.StatusCode != 503 || !strings.Contains(text, "overloaded") || res.Header.Get("Retry-After") == "" {
		t.Errorf("%s %s", res.Status, text)
	}
	close(b.release)
	all.Wait()
	if res, _ := g.get("/"); res.StatusCode != 200 {
		t.Error(res.Status)
	}
	if n := g.count("sluice_gateway_upstream_failures_total", "busy"); n != 1 {
		t.Errorf("%v busy", n)
	}
}

func TestConcurrencyWaits(t *testing.T) {
	b := newBlocking(t)
	g := start(t, single(b.URL, "concurrency: {limit: 1, wait: 20s}"))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if res, _ := g.get("/"); res.StatusCode != 200 {
				t.Error(res.Status)
			}
		})
	}
	eventually(t, "all are here", func() bool { return g.count("sluice_gateway_upstream_in_flight") == 3 })
	close(b.release)
	all.Wait()
	if b.most.Load() != 1 || b.asked.Load() != 3 {
		t.Errorf("%d at the same time, %d in all", b.most.Load(), b.asked.Load())
	}
}

// Requests leave at an even rate, however they come.
func TestShape(t *testing.T) {
	const requests = 100 // so many that some are refused, however slow this machine is
	var mu sync.Mutex
	var at []time.Time
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
	}))
	defer up.Close()
	g := start(t, single(up.URL, "shape: 50/s burst=5"))
	var all sync.WaitGroup
	var refused atomic.Int64
	begin := time.Now()
	for range requests {
		all.Go(func() {
			if res, _ := g.get("/"); res.StatusCode == 503 {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if len(at)+int(refused.Load()) != requests || refused.Load() == 0 {
		t.Errorf("%d passed, %d were refused", len(at), refused.Load())
	}
	// One every 20 ms from the first on, which was not sent before we began.
	for i := range at {
		if after := at[i].Sub(begin); after < time.Duration(i)*20*time.Millisecond {
			t.Errorf("%d within %v", i+1, after)
		}
	}
}
