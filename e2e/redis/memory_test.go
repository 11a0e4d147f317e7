package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// TestOutOfMemory: a full server that evicts nothing refuses what would write;
// nothing of it is spent, and when there is room again all goes on.
func TestOutOfMemory(t *testing.T) {
	server, p := redistest.Start(t, "maxmemory-policy noeviction"), compile(t, slow)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.open, standalone(server))
			var log oracle.Log
			log.Spend(t.Context(), s, c.name, p, 5)
			server.Do("CONFIG", "SET", "maxmemory", "1mb")
			e := log.Spend(t.Context(), s, c.name, p, 7)
			if e.Outcome != oracle.Failed || !strings.Contains(e.Err.Error(), "OOM") {
				t.Errorf("a full server answers %+v", e)
			}
			server.Do("CONFIG", "SET", "maxmemory", "0")
			log.Spend(t.Context(), s, c.name, p, 11)
			if got := spent(t, s, c.name, p); got != 16 {
				t.Errorf("%d were spent, want 16", got)
			}
		})
	}
	wantTTLs(t, server)
}

// TestEviction: a server that evicts keys forgets budgets, each time at most what
// the key had spent. Nobody sees an error.
func TestEviction(t *testing.T) {
	server := redistest.Start(t, "maxmemory-policy allkeys-lru")
	def := algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 3}
	p := compile(t, def)
	s := openStore(t, clients[0].open, standalone(server))
	spent(t, s, "first", p) // what clients and the script need is there
	full := usedMemory(t, server) + 150_000
	server.Do("CONFIG", "SET", "maxmemory", fmt.Sprint(full))
	var log oracle.Log
	const keys, rounds = 2000, 3
	for range rounds {
		for i := range keys {
			log.Spend(t.Context(), s, fmt.Sprint("key ", i), p, def.Burst)
		}
	}
	evicted := server.Info("stats")["evicted_keys"]
	if evicted == "0" {
		t.Fatal("nothing was evicted: the test proves nothing")
	}
	var evictions int64
	fmt.Sscan(evicted, &evictions)
	if n := log.Count(oracle.Failed); n > 0 {
		t.Errorf("%d requests failed", n)
	}
	if got, most := int64(log.Count(oracle.Admitted)), keys+evictions; got > most {
		t.Errorf("%d full buckets were spent, want at most %d: one per key and eviction", got, most)
	}
	log.Check(t, def, oracle.Terms{Lost: (rounds - 1) * def.Burst})
	wantTTLs(t, server)
}

func usedMemory(t testing.TB, s *redistest.Server) int64 {
	t.Helper()
	var used int64
	if _, err := fmt.Sscan(s.Info("memory")["used_memory"], &used); err != nil {
		t.Fatal(err)
	}
	return used
}
