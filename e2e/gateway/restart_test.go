package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// tally is what clients have seen.
type tally struct{ answered, failed atomic.Int64 }

// ask sends requests of one method until ctx ends. Every one has to be answered: by the
// server, or by the gateway with a problem if the server cannot.
func (n *tally) ask(ctx context.Context, t *testing.T, url, method string) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for ctx.Err() == nil {
		body := ""
		if method == "POST" {
			body = "content"
		}
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch status := res.StatusCode; {
		case err != nil:
			t.Errorf("%s: %v", method, err)
		case status == 200 && string(text) == fmt.Sprintf("%s HTTP/1.1 %d", method, len(body)):
			n.answered.Add(1)
		case (status == 502 || status == 503 || status == 504) && res.Header.Get("Content-Type") == "application/problem+json" && strings.Contains(string(text), `"type":"urn:sluice:problem:`):
			n.failed.Add(1)
		default:
			t.Errorf("%s: %s %q", method, res.Status, text)
		}
	}
}

// TestServersDieAndComeBack: two of three servers are killed and started again, one after
// the other, under load. What can be sent again without harm never fails.
func TestServersDieAndComeBack(t *testing.T) {
	addresses := []string{proxytest.FreeAddr(t), proxytest.FreeAddr(t), proxytest.FreeAddr(t)}
	var servers []*server
	var urls []string
	for _, a := range addresses {
		servers, urls = append(servers, upstream(t, a)), append(urls, "http://"+a)
	}
	g := start(t, strings.Replace(section(urls...), "name: app", "name: app, retries: 2, health: {pause: 50ms}", 1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var gets, posts tally
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { gets.ask(ctx, t, "http://"+g.gateway, "GET") })
		all.Go(func() { posts.ask(ctx, t, "http://"+g.gateway, "POST") })
	}
	moreOf := func(n *atomic.Int64, more int64) func() bool {
		from := n.Load()
		return func() bool { return n.Load() >= from+more }
	}
	for round := range 6 {
		i := round % 2
		eventually(t, "there is load", moreOf(&gets.answered, 100))
		servers[i].Kill()
		eventually(t, "requests are answered while one is dead", moreOf(&gets.answered, 100))
		servers[i] = upstream(t, addresses[i])
	}
	eventually(t, "all are up", func() bool { return g.metric("sluice_gateway_upstream_up") == 3 })
	cancel()
	all.Wait()
	t.Logf("GET: %d answered, %d failed; POST: %d answered, %d failed; %v retries", gets.answered.Load(), gets.failed.Load(),
		posts.answered.Load(), posts.failed.Load(), g.metric("sluice_gateway_upstream_retries_total"))
	if gets.failed.Load() > 0 {
		t.Errorf("%d GET requests failed, which could have been sent to another server", gets.failed.Load())
	}
	if posts.failed.Load() > posts.answered.Load()/20 {
		t.Errorf("%d POST requests failed of %d", posts.failed.Load(), posts.answered.Load())
	}
}

// TestAllServersDie: nobody waits for them, and all goes on when they are back.
func TestAllServersDie(t *testing.T) {
	address := proxytest.FreeAddr(t)
	server := upstream(t, address)
	g := start(t, strings.Replace(section("http://"+address), "name: app", "name: app, health: {path: /, every: 20ms, fall: 2, rise: 1}", 1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n tally
	var all sync.WaitGroup
	for _, method := range []string{"GET", "POST"} {
		all.Go(func() { n.ask(ctx, t, "http://"+g.gateway, method) })
	}
	eventually(t, "there is load", func() bool { return n.answered.Load() > 100 })
	server.Kill()
	eventually(t, "it is down", func() bool { return g.metric("sluice_gateway_upstream_up") == 0 })
	eventually(t, "all fail", func() bool { return n.failed.Load() > 100 })
	upstream(t, address)
	before := n.answered.Load()
	eventually(t, "all goes on", func() bool { return n.answered.Load() > before+100 })
	cancel()
	all.Wait()
}
