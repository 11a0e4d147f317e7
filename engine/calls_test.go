package engine_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestExplainTellsOfSlots: the explanation says how many slots of a Redis Cluster the keys
// lie in, whatever stands before the store.
func TestExplainTellsOfSlots(t *testing.T) {
	c := dial(t, redistest.Start(t))
	tagged := redisstore.Tag(rule.TagOf)
	leased := func(s store.Store) store.Store {
		l, err := lease.New(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close(t.Context()) })
		return l
	}
	untagged := []rule.Rule{perUser("a", "5/s", "sliding_log 9/m"), perUser("b", "5/s"), mode(perUser("c", "5/s"), rule.Shadow)}
	var together []rule.Rule
	for _, r := range untagged {
		r.Tag = "user"
		together = append(together, r)
	}
	for _, test := range []struct {
		name  string
		s     store.Store
		rules []rule.Rule
		want  int
	}{
		{"in this process", nil, untagged, 1},
		{"one server", onRedis(t, c), untagged, 1},
		{"a cluster", onRedis(t, c, redisstore.Cluster(), tagged), untagged, 3},
		{"a cluster behind leases", leased(onRedis(t, c, redisstore.Cluster(), tagged)), untagged, 3},
		{"a cluster, one tag", onRedis(t, c, redisstore.Cluster(), tagged), together, 1},
		{"no limit there", onRedis(t, c, redisstore.Cluster(), tagged), []rule.Rule{perUser("a", "instance: 5/s")}, 0},
	} {
		s := test.s
		if s != nil {
			s = patient(t, s)
		}
		e := open(t, compile(t, test.rules...), s)
		for _, r := range []engine.Request{from("ann"), from("bob")} {
			if x, err := e.Explain(t.Context(), r); err != nil || x.Calls != test.want {
				t.Errorf("%s: %v calls, want %d, error %v", test.name, x.Calls, test.want, err)
			}
		}
	}
}
