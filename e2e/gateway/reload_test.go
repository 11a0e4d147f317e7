package gateway

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// TestReloadUnderLoad: routes and servers change again and again while requests go
// through, also by a file that is wrong, and none of them notices.
func TestReloadUnderLoad(t *testing.T) {
	a, b := upstream(t, proxytest.FreeAddr(t)), upstream(t, proxytest.FreeAddr(t))
	g := start(t, section("http://"+a.Addr))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n tally
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { n.ask(ctx, t, "http://"+g.gateway, []string{"GET", "POST"}[i%2]) })
	}
	reloads := func() float64 { return g.metric("sluice_reloads_total") }
	for i := range 10 {
		before := reloads()
		switch i % 3 {
		case 0:
			g.write(section("http://"+b.Addr) + fmt.Sprintf(" # %d", i))
		case 1:
			g.write("gateway: {listen: LISTEN, upstreams: [{name: app, servers: [nonsense]}]}")
		default:
			g.write(section("http://"+a.Addr, "http://"+b.Addr) + fmt.Sprintf(" # %d", i))
		}
		eventually(t, "it is read", func() bool { return reloads() > before })
	}
	cancel()
	all.Wait()
	t.Logf("%d answered", n.answered.Load())
	if n.failed.Load() > 0 || n.answered.Load() == 0 {
		t.Errorf("%d failed, %d answered", n.failed.Load(), n.answered.Load())
	}
}
