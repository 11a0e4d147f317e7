package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/storetest"
)

// clusterNode starts a cluster of one node, which refuses scripts whose keys lie in
// several slots as any other does.
func clusterNode(t testing.TB) *resp.Client {
	c := dial(t, redistest.Start(t, "--cluster-enabled", "yes"))
	do(t, c, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	for !strings.Contains(do(t, c, "CLUSTER", "INFO").(string), "cluster_state:ok") {
		do(t, c, "PING")
	}
	return c
}

// TestConformanceInACluster: a tag puts the keys of every call into one slot.
func TestConformanceInACluster(t *testing.T) {
	c := clusterNode(t)
	all := redisstore.Tag(func(string) string { return "all" })
	storetest.Run(t, fresh(c, redisstore.Cluster(), all), storetest.Steps(algotest.Rounds(500, 100_000)))
	wantLifetimes(t, c)
}

// spread returns keys that lie in different slots.
func spread(t testing.TB, s *redisstore.Store, p *algo.Spec, n int) []store.Check {
	var checks []store.Check
	seen := map[uint16]bool{}
	for i := 0; len(checks) < n; i++ {
		c := store.Check{Key: fmt.Sprint("k", i), Spec: p, Cost: 1, ID: "id", Hold: 1e6}
		if at := redisstore.Slot(redisstore.StateKey(s, &c)); !seen[at] {
			seen[at] = true
			checks = append(checks, c)
		}
	}
	return checks
}

// TestSeveralSlots: one call per slot; all or nothing, whichever denies.
func TestSeveralSlots(t *testing.T) {
	c := clusterNode(t)
	now := time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)
	for _, p := range everyKind(t) {
		if p.Kind == algo.WarmUp || p.Kind == algo.LeakyBucket {
			continue // only one goes without waiting
		}
		s := fresh(c, redisstore.Cluster())(t, func() time.Time { return now }).(*redisstore.Store)
		checks := spread(t, s, p, 3)
		left := func(want ...int64) {
			t.Helper()
			for i, c := range checks {
				c.Cost = 0
				if got := p.Remaining(take(t, s, store.Spend, c)[0].Verdict); got != want[i] {
					t.Errorf("kind %d: %d remain to key %d, want %d", p.Kind, got, i, want[i])
				}
			}
		}
		do(t, c, "CONFIG", "RESETSTAT")
		take(t, s, store.Spend, append([]store.Check(nil), checks...)...)
		if calls := scriptCalls(t, c); !strings.Contains(calls, "evalsha:calls=3") {
			t.Errorf("a decision over three slots made %s", calls)
		}
		left(99, 99, 99)
		for i := range checks {
			full := append([]store.Check(nil), checks...)
			full[i].Cost = 100
			for j, got := range take(t, s, store.Spend, full...) {
				if got.Verdict.Allowed != (j != i) {
					t.Errorf("kind %d: check %d: allowed %v while %d is denied", p.Kind, j, got.Verdict.Allowed, i)
				}
			}
			left(99, 99, 99)
			take(t, s, store.Reserve, full...)
			left(99, 99, 99)
		}
		take(t, s, store.Reserve, append([]store.Check(nil), checks...)...)
		take(t, s, store.Reserve, append([]store.Check(nil), checks...)...) // again
		left(98, 98, 98)
		checks[0].Cost = 0
		take(t, s, store.Commit, append([]store.Check(nil), checks...)...)
		left(99, 98, 98)
	}
	wantLifetimes(t, c)
}

// TestPermitsInSeveralSlots: they are given back when a later slot denies.
func TestPermitsInSeveralSlots(t *testing.T) {
	c := clusterNode(t)
	s := open(t, c, redisstore.Cluster())
	p := mustCompile(t, algo.Spec{Kind: algo.Concurrency, Count: 2})
	checks := spread(t, s, p, 3)
	for i := range checks {
		other := checks[i]
		other.ID, other.Cost = "somebody else", 2
		take(t, s, store.Acquire, other)
		take(t, s, store.Acquire, append([]store.Check(nil), checks...)...)
		take(t, s, store.Release, other)
		for j, c := range checks {
			c.Cost = 0
			if left := p.Remaining(take(t, s, store.Acquire, c)[0].Verdict); left != 2 {
				t.Errorf("%d denied: %d permits remain to %d, want 2", i, left, j)
			}
		}
	}
}

// cut answers the first calls and loses the others.
type cut struct {
	redisstore.Scripter
	good int
}

var errCut = errors.New("connection reset by peer")

func (s *cut) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	if s.good--; s.good == -1 {
		return nil, errCut
	}
	return s.Scripter.EvalSha(ctx, sha, keys, args)
}

// TestSlotLost: what was spent before an error is given back.
func TestSlotLost(t *testing.T) {
	c := clusterNode(t)
	p := everyKind(t)[0]
	whole := open(t, c, redisstore.Cluster())
	checks := spread(t, whole, p, 3)
	take(t, whole, store.Spend, checks[0])
	for good := range 3 {
		s := open(t, &cut{c, good}, redisstore.Cluster())
		if err := s.Take(context.Background(), store.Spend, checks); !errors.Is(err, errCut) {
			t.Errorf("error %v, want that of the client", err)
		}
	}
	for i, c := range checks {
		want := int64(100)
		if i == 0 {
			want = 99
		}
		c.Cost = 0
		if got := p.Remaining(take(t, whole, store.Spend, c)[0].Verdict); got != want {
			t.Errorf("%d remain to key %d, want %d", got, i, want)
		}
	}
}
