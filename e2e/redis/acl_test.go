package redis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// What a Redis user needs: the commands that sluice sends, those that its scripts
// call, and those by which clients look after their connections.
const (
	sends      = "+evalsha +eval"
	inner      = "+time +get +set +del +strlen +getrange +setrange +hget +hset +hdel +hgetall +hrandfield +pexpire +pttl"
	looksAfter = "+ping"
	inCluster  = "+cluster|slots +cluster|shards +asking +command"
	inSentinel = "+role"
)

// aclFile writes a file with one user that may do only what is listed. The default
// user is the test's own.
func aclFile(t testing.TB, allowed ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.acl")
	text := "user default on nopass ~* &* +@all\n" +
		"user limited on >secret ~sluice:* ~world-* -@all " + strings.Join(allowed, " ") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantNoRefusals checks the server's list of what it refused. Clients try to tell
// their name by CLIENT and take a refusal for an answer.
func wantNoRefusals(t *testing.T, servers ...*redistest.Server) {
	t.Helper()
	for _, s := range servers {
		for _, entry := range s.Do("ACL", "LOG").([]any) {
			fields := entry.([]any)
			object := fmt.Sprint(fields[slices.Index(fields, any("object"))+1])
			if !strings.HasPrefix(object, "client") {
				t.Errorf("the user needs %q: %v", object, entry)
			}
		}
	}
}

// TestSoakLimitedUser: the suite passes with a user that may do only what is
// listed, and everything that is listed is needed.
func TestSoakLimitedUser(t *testing.T) {
	server := redistest.Start(t, "aclfile "+aclFile(t, sends, inner, looksAfter))
	g := standalone(server)
	g.user = "limited"
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			conform(t, c.open(t, g), g, true)
			useEverything(t, openStore(t, c.open, g))
		})
	}
	wantNoRefusals(t, server)
	used := server.Calls()
	for _, command := range strings.Fields(sends + " " + inner) {
		if used[command[1:]] == 0 {
			t.Errorf("nothing needs %s", command)
		}
	}
}

// longLog has so many entries that a decision reads only some of them.
var longLog = algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 1000, Period: 3600e6}}}

// useEverything carries out every operation, by the clock of the server.
func useEverything(t testing.TB, s *redisstore.Store) {
	t.Helper()
	for _, p := range append(limitsOfAllKinds(t), compile(t, longLog)) {
		for range 300 {
			take(t, s, store.Spend, check("k", p, 1))
		}
		for i := range 10 {
			c := store.Check{Key: "k", Spec: p, Cost: 1, Want: 2, ID: fmt.Sprint(i), Hold: 1e6}
			for _, op := range []store.Op{store.Reserve, store.Commit, store.Lease, store.Return, store.Refund, store.Cancel} {
				take(t, s, op, c)
			}
		}
		take(t, s, store.Reset, check("k", p, 0))
	}
	permits := store.Check{Key: "k", Spec: compile(t, algo.Spec{Kind: algo.Concurrency, Count: 5}), Cost: 1, ID: "me", Hold: 1e6}
	for _, op := range []store.Op{store.Acquire, store.Renew, store.Release} {
		take(t, s, op, permits)
	}
	if _, live, err := s.Beat(t.Context(), "group", "me", time.Minute); err != nil || live != 1 {
		t.Errorf("%d live: %v", live, err)
	}
	if err := s.Leave(t.Context(), "group", "me"); err != nil {
		t.Error(err)
	}
}

// TestLimitedUserElsewhere: likewise in a Cluster and with Sentinels, where clients
// ask for more.
func TestLimitedUserElsewhere(t *testing.T) {
	cl := redistest.StartCluster(t, "aclfile "+aclFile(t, sends, inner, looksAfter, inCluster))
	se := redistest.StartSentinels(t, "aclfile "+aclFile(t, sends, inner, looksAfter, inSentinel))
	p := compile(t, slow)
	slot := redistest.Slot("new")
	to := cl.Masters[(slices.Index(cl.Masters, cl.Owner(slot))+1)%len(cl.Masters)]
	cl.BeginMove(slot, to) // so that clients have to ask
	for _, g := range []target{cluster(cl), sentinels(se)} {
		g.user = "limited"
		stores := openStores(t, g, 1)
		for i, s := range stores {
			for _, key := range []string{"a", "b", "c", "new"} {
				if v := take(t, s, store.Spend, check(key, p, 1))[0].Verdict; p.Burst-p.Remaining(v) != int64(i+1) {
					t.Errorf("key %q has %d left for store %d", key, p.Remaining(v), i)
				}
			}
		}
	}
	cl.EndMove(slot, to)
	wantNoRefusals(t, append(cl.Serving(), se.Servers...)...)
}
