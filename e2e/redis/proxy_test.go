package redis

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/faultproxy"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// networks are the ways in which a network is bad. Those that lose nothing fail
// nobody.
var networks = []struct {
	name   string
	faults faultproxy.Faults
	fails  bool
}{
	{"latency", faultproxy.Faults{Latency: 20 * time.Millisecond}, false},
	{"jitter", faultproxy.Faults{Latency: time.Millisecond, Jitter: 20 * time.Millisecond}, false},
	{"slices", faultproxy.Faults{Slice: true}, false},
	{"narrow", faultproxy.Faults{Rate: 200_000}, false},
	{"cut in the middle", faultproxy.Faults{CutAfter: 3000}, true},
	{"answers lost, connections cut", faultproxy.Faults{Answers: faultproxy.SwallowOneAndCut}, true},
	{"answers lost", faultproxy.Faults{Answers: faultproxy.Swallow}, true},
	{"half-open", faultproxy.Faults{Silent: true}, true},
	{"refused", faultproxy.Faults{Refuse: true}, true},
}

// TestSoakBadNetwork: whatever the network does, every request is charged at most
// once, every call ends, and when the network is good again all is served.
func TestSoakBadNetwork(t *testing.T) {
	for _, n := range networks {
		for _, c := range clients {
			t.Run(n.name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				server, p := redistest.Start(t), compile(t, slow)
				g := standalone(server).throughProxies(t, server)
				if n.fails {
					g.timeout = 500 * time.Millisecond
				}
				s := openStore(t, c.open, g)
				for range algotest.Rounds(2, 30) {
					l := startLoad(t, p, s)
					l.more(20, oracle.Admitted)
					if n.fails {
						l.fail(g.proxies[server.Addr()], n.faults)
					} else {
						g.set(n.faults)
						l.more(20, oracle.Admitted)
					}
					g.set(faultproxy.Faults{})
					l.more(20, oracle.Admitted)
					l.Stop()
					if !n.fails {
						l.wantNoFailures()
					}
					l.wantSpent(s, p)
				}
				wantTTLs(t, server)
			})
		}
	}
}

// fail lets the proxy do its worst until five requests have failed.
func (l *load) fail(proxy *faultproxy.Proxy, f faultproxy.Faults) {
	l.t.Helper()
	proxy.Set(f)
	if f.Refuse {
		proxy.Cut()
	}
	want, lost := l.log.Count(oracle.Failed)+5, proxy.Lost()
	redistest.Wait(l.t, "five requests fail", func() bool {
		if f.Answers == faultproxy.SwallowOneAndCut && proxy.Lost() > lost {
			lost = proxy.Lost()
			proxy.Set(f) // it did so once
		}
		return l.log.Count(oracle.Failed) >= want
	})
}

// TestLostAnswersCharge: the control of the test above. What failed because its
// answer was lost was spent: each of them once.
func TestLostAnswersCharge(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			server, p := redistest.Start(t), compile(t, slow)
			g := standalone(server).throughProxies(t, server)
			s := openStore(t, c.open, g)
			spent(t, s, c.name, p)
			var log oracle.Log
			proxy := g.proxies[server.Addr()]
			for range 20 {
				lost := proxy.Lost()
				proxy.Set(faultproxy.Faults{Answers: faultproxy.SwallowOneAndCut})
				ctx, cancel := withTimeout(deadline)
				log.Spend(ctx, s, c.name, p, 1)
				cancel()
				redistest.Wait(t, "an answer is lost", func() bool { return proxy.Lost() > lost })
			}
			got := spent(t, s, c.name, p)
			log.CheckSpent(t, c.name, got)
			if failed := log.Cost(c.name, oracle.Failed); failed == 0 || got <= log.Cost(c.name, oracle.Admitted) {
				t.Errorf("%d failed and %d were spent: no answer was lost after its commit", failed, got)
			}
		})
	}
}
