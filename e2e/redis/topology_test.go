package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// forgotten is what a failover may forget of a bucket: what the old master granted
// and the new one never saw. That is at most a full bucket, and what the refill of
// the time brings in which both serve.
func forgotten(p algo.Spec, seconds int64) int64 { return p.Burst + seconds*p.Count*1e6/p.Period }

// TestSoakSentinel: the Sentinels make the replica the master under load, by request
// and after a death. All clients find the new one.
func TestSoakSentinel(t *testing.T) {
	servers, p := redistest.StartSentinels(t), compile(t, quick)
	stores := openStores(t, sentinels(servers), 2)
	for range algotest.Rounds(1, 25) {
		l := startLoad(t, p, stores...)
		l.more(50, oracle.Admitted)
		servers.Failover()
		wantServed(t, stores, p)
		dead := servers.Master()
		dead.Kill()
		servers.AwaitFailover(dead)
		wantServed(t, stores, p)
		servers.Rejoin(dead)
		l.more(50, oracle.Admitted)
		l.Stop()
		l.log.Check(t, quick, oracle.Terms{Lost: 2 * forgotten(quick, 2)})
	}
	wantTTLs(t, servers.Servers...)
}

// wantServed waits until every store decides again.
func wantServed(t testing.TB, stores []store.Store, p *algo.Spec) {
	t.Helper()
	for _, s := range stores {
		spent(t, s, "somebody", p)
	}
}

// TestReadOnly: a server that has become a replica refuses, nothing is spent, and
// when it is a master again all is as before.
func TestReadOnly(t *testing.T) {
	server, other, p := redistest.Start(t), redistest.Start(t), compile(t, slow)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.open, standalone(server))
			var log oracle.Log
			log.Spend(t.Context(), s, c.name, p, 5)
			server.Do("CONFIG", "SET", "replica-read-only", "yes")
			server.Do("REPLICAOF", "127.0.0.1", portOf(other))
			e := log.Spend(t.Context(), s, c.name, p, 7)
			if e.Outcome != oracle.Failed || !strings.Contains(e.Err.Error(), "READONLY") {
				t.Errorf("a replica answers %+v", e)
			}
			server.Do("REPLICAOF", "NO", "ONE")
			log.Spend(t.Context(), s, c.name, p, 11)
			if got := spent(t, s, c.name, p); got != 16 && got != 11 {
				t.Errorf("%d were spent, want 16, or 11 if the other server's data came in between", got)
			}
		})
	}
}

func portOf(s *redistest.Server) string { return s.Addr()[strings.LastIndexByte(s.Addr(), ':')+1:] }

// TestSoakMigration: the slot of the hot key moves from master to master under
// load. Nobody sees an error, nothing is lost or charged twice, and every
// history of the hot key has an order.
func TestSoakMigration(t *testing.T) {
	cl, p := redistest.StartCluster(t), compile(t, slow)
	stores := openStores(t, cluster(cl), 2, asked)
	for range algotest.Rounds(1, 10) {
		l := startLoad(t, p, stores...)
		slot := slotOf(t, cl, l.keys[0])
		linear, seed := compile(t, quick), algotest.Seed(t, 0)
		for n := range 6 {
			l.more(50, oracle.Admitted)
			done := make(chan struct{})
			go func() {
				defer close(done)
				cl.MoveSlot(slot, cl.Masters[n%len(cl.Masters)])
			}()
			take(t, stores[0], store.Reset, check(l.keys[0], linear, 0))
			record(t, seed+uint64(n), 8, 20, stores, onOneKey(l.keys[0], linear)).judge(t, "the hot key on its way")
			<-done
		}
		l.Stop()
		l.wantNoFailures()
		l.wantSpent(stores[0], p)
	}
	wantTTLs(t, cl.Masters...)
}

// slotOf asks where the states of a key are, by the key that a spend leaves.
func slotOf(t testing.TB, cl *redistest.Cluster, key string) int {
	t.Helper()
	slot := -1
	redistest.Wait(t, "the key is there", func() bool {
		for _, m := range cl.Serving() {
			for name := range m.TTLs() {
				if strings.Contains(name, "{"+key+"}") {
					slot = redistest.Slot(name)
				}
			}
		}
		return slot >= 0
	})
	return slot
}

// TestSoakClusterFailover: a replica takes over from its master by agreement, and
// the other way round after a death. All clients find the one that serves. Each
// round has a Cluster of its own, because a node of Redis 7.0 that is elected twice
// within a short time may count the votes of the first time, and nobody follows it.
func TestSoakClusterFailover(t *testing.T) {
	for n := range algotest.Rounds(1, 10) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			cl, p := redistest.StartCluster(t), compile(t, quick)
			stores := openStores(t, cluster(cl), 2)
			l := startLoad(t, p, stores...)
			l.more(50, oracle.Admitted)
			slot := slotOf(t, cl, l.keys[0])
			cl.Promote(cl.ReplicaOf(cl.Owner(slot)))
			wantServed(t, stores, p)
			dead := cl.Owner(slot)
			dead.Kill()
			redistest.Wait(t, "somebody else serves the slot", func() bool { return cl.Owner(slot) != dead })
			dead.Restart()
			cl.Settle()
			wantServed(t, stores, p)
			l.more(50, oracle.Admitted)
			l.Stop()
			l.log.Check(t, quick, oracle.Terms{Lost: 2 * forgotten(quick, 2)})
			wantTTLs(t, cl.Serving()...)
		})
	}
}
