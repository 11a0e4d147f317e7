package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
)

// inFlight returns how many requests are in flight by the first limit of the first rule.
func (r *running) inFlight() int64 {
	r.t.Helper()
	x, err := r.engine.Explain(context.Background(), engine.Request{})
	if err != nil {
		r.t.Fatal(err)
	}
	return x.Rules[0].Limits[0].InFlight
}

// A request counts as in flight until its answer is over, also one whose client has gone,
// and one that comes right after a refusal over the same connection.
func TestConcurrencyOfRequests(t *testing.T) {
	inside, end := make(chan bool), make(chan bool)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			inside <- true
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, "served")
	}))
	defer app.Close()
	g := start(t, single(app.URL)+"\nrules: [{name: reports, limits: [concurrency 1]}]\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan int)
	slow := func(ctx context.Context) {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.url+"/slow", nil)
		res, err := g.client.Do(request)
		if err != nil {
			answered <- 0
			return
		}
		_ = res.Body.Close()
		answered <- res.StatusCode
	}
	go slow(t.Context())
	<-inside
	for range 5 { // all but the first would be answered ahead of the server
		if res, _ := g.get("/"); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "1" {
			t.Errorf("beside one: %d, %v", res.StatusCode, res.Header)
		}
	}
	end <- true
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the first: %d", status)
	}
	for range 20 {
		if res, text := g.get("/"); res.StatusCode != http.StatusOK || text != "served" {
			t.Fatalf("one after the other: %d", res.StatusCode)
		}
	}
	go slow(ctx)
	<-inside
	if n := g.inFlight(); n != 1 {
		t.Errorf("%d in flight", n)
	}
	cancel()
	<-answered
	eventually(t, "the one whose client has gone is over", func() bool { return g.inFlight() == 0 })
}

// A tunnel is in flight until it ends.
func TestConcurrencyOfTunnels(t *testing.T) {
	g := start(t, single(upgrading(t).URL)+"\nrules: [{name: chats, limits: [concurrency 1]}]\n")
	c, _ := g.upgrade()
	if res, _ := g.get("/"); res.StatusCode != http.StatusTooManyRequests || g.inFlight() != 1 {
		t.Errorf("beside a tunnel: %d, %d in flight", res.StatusCode, g.inFlight())
	}
	_ = c.Close()
	eventually(t, "the tunnel is over", func() bool { return g.inFlight() == 0 })
}
