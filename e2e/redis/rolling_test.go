package redis

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/oracle"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// TestRollingChange: during a deploy half of the instances have the old limit and
// half the new one. Together they never admit more than the larger of both, and
// when all have the smaller one it holds at once.
func TestRollingChange(t *testing.T) {
	for _, small := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 10},
		{Kind: algo.FixedWindow, Count: 50, Period: 1e6},
		{Kind: algo.SlidingWindow, Count: 50, Period: 1e6, Sub: 10},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 50, Period: 1e6}}},
	} {
		t.Run(algotest.KindName(small.Kind), func(t *testing.T) {
			server, large := redistest.Start(t), doubled(small)
			stores := openStores(t, standalone(server), 1)
			l := startLoad(t, compile(t, large), stores...)
			l.more(50, oracle.Admitted)
			old := loadKeys(t, l.keys, compile(t, small), stores...)
			old.more(50, oracle.Admitted)
			l.Stop()
			at := serverTime(t, server)
			old.more(50, oracle.Admitted)
			old.Stop()
			l.wantNoFailures()
			old.wantNoFailures()
			wantTogether(t, large, append(l.log.Entries(), old.log.Entries()...), 0)
			wantTogether(t, small, old.log.Entries(), at)
			wantTTLs(t, server)
		})
	}
}

// doubled is the same limit with twice the amount.
func doubled(def algo.Spec) algo.Spec {
	def.Count, def.Burst = 2*def.Count, 2*def.Burst
	windows := append([]algo.Window(nil), def.Windows...)
	for i := range windows {
		windows[i].Count *= 2
	}
	def.Windows = windows
	return def
}

// wantTogether judges what was admitted from an instant on; denials may come from
// the other limit and are not judged.
func wantTogether(t testing.TB, def algo.Spec, entries []oracle.Entry, from int64) {
	t.Helper()
	keys := map[string][]oracle.Entry{}
	for _, e := range entries {
		if e.Outcome == oracle.Admitted && e.Now >= from {
			keys[e.Key] = append(keys[e.Key], e)
		}
	}
	for key, list := range keys {
		problems, _ := oracle.Judge(def, list, oracle.Terms{})
		if len(problems) > 0 {
			t.Errorf("key %q, %s: %s", key, algotest.Describe(def), problems[0])
		}
	}
}

// TestAlternatingLimits: two instances that disagree about the amount take turns. A
// bucket does not drift: nothing is rescaled, whoever asks.
func TestAlternatingLimits(t *testing.T) {
	server := redistest.Start(t)
	s := openStore(t, clients[0].open, standalone(server))
	a := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 100 * 24 * 3600e6, Burst: 100})
	b := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 97, Period: 97 * 24 * 3600e6, Burst: 97})
	take(t, s, store.Spend, check("k", a, 50))
	for i := range 200 {
		take(t, s, store.Spend, check("k", []*algo.Spec{a, b}[i%2], 0))
	}
	if got := remaining(t, s, "k", a); got != 50 {
		t.Errorf("%d are left, want 50", got)
	}
}
