package redis

import (
	"cmp"
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/faultproxy"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// fleet is the number of instances.
const fleet = 8

// instance is one process of a fleet, with a network of its own.
type instance struct {
	*failover.Store
	proxy *faultproxy.Proxy
}

func openFleet(t testing.TB, server *redistest.Server) []instance {
	t.Helper()
	var list []instance
	for rank := range fleet {
		g := standalone(server).throughProxies(t, server)
		local := split.New(memstore.New(), split.Fixed{Rank: rank, Live: fleet})
		s, err := failover.New(openStore(t, clients[rank%len(clients)].open, g), local, failover.Direct(), failover.Deadline(deadline/4))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		list = append(list, instance{s, g.proxies[server.Addr()]})
	}
	return list
}

// TestPartition: one of eight instances loses its network. It goes on with its
// share, the others go on as before, and together they admit at most that share
// more than the limit. When the network is back it asks the store again.
func TestPartition(t *testing.T) {
	def := algo.Spec{Kind: algo.TokenBucket, Count: 800, Period: 1e6, Burst: 80}
	server, p := redistest.Start(t), compile(t, def)
	instances := openFleet(t, server)
	var stores []store.Store
	for _, i := range instances {
		stores = append(stores, i)
	}
	l := startLoad(t, p, stores...)
	cut := instances[3]
	l.more(300, oracle.Admitted)
	cut.proxy.Set(faultproxy.Faults{Silent: true})
	redistest.Wait(t, "the instance is alone", func() bool { return cut.Stats().Open })
	l.more(300, oracle.Admitted)
	alone := cut.Stats().Degraded
	l.more(300, oracle.Admitted)
	if cut.Stats().Degraded == alone {
		t.Error("an instance that is alone decides nothing by itself")
	}
	cut.proxy.Set(faultproxy.Faults{})
	redistest.Wait(t, "the instance is back", func() bool { return !cut.Stats().Open })
	l.more(300, oracle.Admitted)
	l.Stop()
	l.wantNoFailures()
	shares := int64(0) // usually one; more if this machine was too busy for the deadline
	for i, other := range instances {
		s := other.Stats()
		if s.Degraded > 0 {
			shares++
		}
		if other != cut && s.Opened > 0 {
			t.Errorf("instance %d was alone too: %+v", i, s)
		}
	}
	wantWithinShares(t, def, shares, l.log.Entries())
}

// wantWithinShares checks that what the server admitted is within the limit, and
// what instances admitted by themselves within their shares of it.
func wantWithinShares(t testing.TB, def algo.Spec, shares int64, entries []oracle.Entry) {
	t.Helper()
	own := def
	own.Count, own.Period, own.Burst = def.Count*shares, def.Period*fleet, def.Burst*shares/fleet
	slices.SortFunc(entries, func(a, b oracle.Entry) int { return cmp.Compare(a.Now, b.Now) })
	server, alone, unsure := map[string]*algotest.Oracle{}, map[string]*algotest.Oracle{}, int64(0)
	for _, e := range entries {
		if server[e.Key] == nil {
			server[e.Key], alone[e.Key] = algotest.NewOracle(def), algotest.NewOracle(own)
		}
		switch {
		case e.Outcome != oracle.Admitted:
		case e.Local:
			alone[e.Key].Admit(e.Now, e.Cost)
			unsure = max(unsure, e.End-e.Start) // of the instant
		default:
			server[e.Key].Admit(e.Now, e.Cost)
		}
	}
	for key := range server {
		if over := server[key].Excess(def.Burst, 0); over.Sign() > 0 {
			t.Errorf("key %q: the server admitted %s too much", key, over.FloatString(2))
		}
		if over := alone[key].Excess(own.Burst, unsure); over.Sign() > 0 {
			t.Errorf("key %q: %d instances by themselves admitted %s too much", key, shares, over.FloatString(2))
		}
	}
}
