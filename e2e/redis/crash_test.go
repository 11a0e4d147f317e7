package redis

import (
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// TestSoakKill: the server is killed and started again under load. Callers see
// errors only while it is gone. With every write on disk nothing is forgotten;
// with nothing on disk each death forgets at most a full bucket.
func TestSoakKill(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []string
		lost    int64 // per death
	}{
		{"nothing on disk", nil, quick.Burst},
		{"a second at risk", []string{"appendonly yes", "appendfsync everysec"}, quick.Burst},
		{"all on disk", []string{"appendonly yes", "appendfsync always"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, p := redistest.Start(t, c.options...), compile(t, quick)
			stores := openStores(t, standalone(server), 2)
			for range algotest.Rounds(1, 50) {
				l := startLoad(t, p, stores...)
				l.killTwice(server)
				l.log.Check(t, quick, oracle.Terms{Lost: 2 * c.lost})
			}
			wantTTLs(t, server)
		})
	}
}

// killTwice lets a server die and come back, twice, and ends the load.
func (l *load) killTwice(server *redistest.Server) {
	l.t.Helper()
	for range 2 {
		l.more(50, oracle.Admitted)
		server.Kill()
		l.more(5, oracle.Failed)
		server.Restart()
	}
	l.more(50, oracle.Admitted)
	l.Stop()
}

// TestSoakKillCharges: with every write on disk, what is counted as spent after
// deaths is what callers were told, and nothing was charged twice.
func TestSoakKillCharges(t *testing.T) {
	server, p := redistest.Start(t, "appendonly yes", "appendfsync always"), compile(t, slow)
	stores := openStores(t, standalone(server), 2)
	for range algotest.Rounds(1, 50) {
		l := startLoad(t, p, stores...)
		l.killTwice(server)
		l.wantSpent(stores[0], p)
	}
}

// TestPausedServer: while the server stands still, every call ends with its context.
func TestPausedServer(t *testing.T) {
	server, p := redistest.Start(t), compile(t, slow)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.open, standalone(server))
			spent(t, s, c.name, p)
			server.Pause()
			defer server.Resume()
			var log oracle.Log
			var crowd sync.WaitGroup
			for range 200 {
				crowd.Go(func() {
					ctx, cancel := withTimeout(50 * time.Millisecond)
					defer cancel()
					log.Spend(ctx, s, c.name, p, 1)
				})
			}
			crowd.Wait() // before the server goes on
			if n := log.Count(oracle.Failed); n != 200 {
				t.Errorf("%d of 200 calls to a paused server failed", n)
			}
			server.Resume()
			log.CheckSpent(t, c.name, spent(t, s, c.name, p))
		})
	}
}

// TestSoakScriptFlush: a server that forgets its scripts all the time is not
// noticed.
func TestSoakScriptFlush(t *testing.T) {
	server, p := redistest.Start(t), compile(t, slow)
	stores := openStores(t, standalone(server), 2)
	for range algotest.Rounds(1, 60) {
		server.Do("CONFIG", "RESETSTAT")
		l := startLoad(t, p, stores...)
		const flushes = 10
		for range flushes {
			server.Do("SCRIPT", "FLUSH")
			l.more(100, oracle.Admitted)
		}
		l.Stop()
		l.wantNoFailures()
		calls, decisions := server.Calls(), len(l.log.Entries())
		if most := (flushes + 1) * callers; calls["evalsha"] > decisions+most || calls["eval"] > most {
			t.Errorf("%d EVALSHA and %d EVAL for %d decisions and %d flushes", calls["evalsha"], calls["eval"], decisions, flushes)
		}
		l.wantSpent(stores[0], p)
		l.log.Check(t, slow, oracle.Terms{})
	}
	wantTTLs(t, server)
}
