package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/crowd"
)

// begins is what they say first: nothing, half a header, half a body without a token and
// with one. The last have a right to their place until the time for a body is over.
func begins(i int) string {
	const head = "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	switch {
	case i%20 == 0:
		return head + "Authorization: Bearer " + token + "\r\nContent-Length: 1000\r\n\r\n{"
	case i%4 == 1:
		return head + "Content-Length: 1000\r\n\r\n{"
	case i%2 == 0:
		return head + "X-Slow: "
	}
	return ""
}

// client asks over one connection after the other, each for some requests.
type client struct {
	s               *server
	answered, again int
}

// one sends requests over a connection. Only the first may fail: nobody knows this
// client before it has shown its token, and there are thousands like it.
func (c *client) one(ctx context.Context, requests int) {
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	for i := 0; i < requests && ctx.Err() == nil; i++ {
		answer, err := transport.RoundTrip(c.s.request("POST", "/v1/check", `{"path":"/"}`))
		if err != nil {
			if i > 0 {
				c.s.t.Errorf("request %d of a connection that is known: %v", i, err)
			}
			c.again++
			return
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `"allowed":true`) {
			c.s.t.Errorf("%s %s %v", answer.Status, text, err)
			return
		}
		c.answered++
	}
}

// TestSlowConnections: 5,000 connections that say nothing, or slowly, hold up nobody and
// are cut, with fewer places than that.
func TestSlowConnections(t *testing.T) {
	const many = 5000
	crowd.Descriptors(t, many+1000)
	s := start(t, "rules: [{name: all, limits: [1000000/s]}]\n", "SLUICE_LIMITS_CONNECTIONS=2000", "SLUICE_LIMITS_IN_FLIGHT=16")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clients, attack := make([]client, 4), &crowd.Crowd{}
	defer attack.Close()
	var work sync.WaitGroup
	for i := range clients {
		clients[i].s = s
		work.Go(func() {
			for ctx.Err() == nil {
				clients[i].one(ctx, 50)
			}
		})
	}
	work.Go(func() { attack.Dribble(ctx) })
	for i := range many {
		attack.Join(t, s.address, begins(i))
	}
	if dropped := s.metric("sluice_connections_dropped_total"); dropped < many-2000 {
		t.Errorf("%.0f connections were dropped", dropped)
	}
	eventually(t, "all are cut", func() bool { return attack.Open() == 0 })
	cancel()
	work.Wait()
	t.Logf("the oldest slow connection became %v old", attack.Oldest())
	for i, c := range clients {
		t.Logf("client %d: %d answers, %d connections were not known soon enough", i, c.answered, c.again)
		if c.answered < 100 || c.again > c.answered/10 {
			t.Errorf("client %d: %d answers, %d failures", i, c.answered, c.again)
		}
	}
	if shed := s.metric("sluice_shed_requests_total"); shed > 0 {
		t.Errorf("slow bodies took places in flight: %.0f requests were shed", shed)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
