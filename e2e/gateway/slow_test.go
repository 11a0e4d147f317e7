package gateway

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/crowd"
	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// begins is what they say first.
func begins(i int) string {
	switch i % 4 {
	case 1:
		return "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
	case 2:
		return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
	case 3:
		return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	}
	return ""
}

// TestSlowConnections: 5,000 connections that say nothing, or slowly, hold up nobody and
// are cut, with fewer places than that.
func TestSlowConnections(t *testing.T) {
	const many = 5000
	crowd.Descriptors(t, many+1000)
	up := upstream(t, proxytest.FreeAddr(t))
	g := start(t, strings.Replace(section("http://"+up.Addr), "LISTEN,", "LISTEN, limits: {connections: 2000},", 1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	attack, n := &crowd.Crowd{}, &tally{}
	defer attack.Close()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { n.ask(ctx, t, "http://"+g.gateway, "GET") })
	}
	eventually(t, "there is load", func() bool { return n.answered.Load() > 100 })
	work.Go(func() { attack.Dribble(ctx) })
	for i := range many {
		attack.Join(t, g.gateway, begins(i))
	}
	during := n.answered.Load()
	eventually(t, "all are cut", func() bool { return attack.Open() == 0 })
	cancel()
	work.Wait()
	t.Logf("the oldest slow connection became %v old; %d answers meanwhile", attack.Oldest(), n.answered.Load())
	if n.failed.Load() > 0 || n.answered.Load() < during {
		t.Errorf("%d failed, %d answered", n.failed.Load(), n.answered.Load())
	}
}
