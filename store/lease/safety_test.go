package lease

import (
	"os"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// limits of the model check: one token per tick, or two per window.
var (
	smallBucket  = algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: tick, Burst: 4}
	largerBucket = algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: tick, Burst: 6}
	fixed        = algo.Spec{Kind: algo.FixedWindow, Count: 2, Period: 2 * tick}
	firstHit     = algo.Spec{Kind: algo.FixedWindow, Count: 2, Period: 2 * tick, FirstHit: true}
	sliding      = algo.Spec{Kind: algo.SlidingWindow, Count: 2, Period: 4 * tick, Sub: 2}

	briefly = rules{age: ageOf(1), share: 1}
	longer  = rules{age: ageOf(2), share: 1}
	lavish  = rules{age: ageOf(1), share: 1, fullBurst: true}
	one     = []int64{1}
	two     = []int64{2}
	both    = []int64{1, 2}
)

// soak tells a run that may take long; it looks at more of everything.
var soak, more = os.Getenv("SLUICE_SOAK") != "", min(1, len(os.Getenv("SLUICE_SOAK")))

// TestNoStateBeyondTheBound visits every state of small worlds, however long
// they run, and finds none in which more was admitted than the limit allows.
func TestNoStateBeyondTheBound(t *testing.T) {
	exploreAll(t, map[string]*scope{
		"bucket":                 {limit: smallBucket, rules: briefly, nodes: 2, mail: 1, costs: one, wants: two, bound: 4},
		"bucket, several limits": {limit: smallBucket, rules: briefly, nodes: 1, costs: one, wants: two, holds: true, bound: 4},
		"bucket, refunds":        {limit: smallBucket, rules: briefly, nodes: 1, costs: one, wants: two, holds: true, backs: true, bound: 4},
		"fixed":                  {limit: fixed, rules: briefly, nodes: 1, mail: 1, costs: one, wants: two, holds: true, bound: 2},
		"fixed, refunds":         {limit: fixed, rules: briefly, nodes: 1, costs: one, wants: two, holds: true, backs: true, bound: 2},
		"fixed, resets":          {limit: fixed, rules: briefly, nodes: 1, mail: 1, costs: one, wants: two, reset: true, bound: 2},
		"first hit":              {limit: firstHit, rules: briefly, nodes: 1, mail: 1, costs: both, wants: two, bound: 2},
		"sliding":                {limit: sliding, rules: briefly, nodes: 1, costs: both, wants: two, bound: 2},
	})
}

// TestSoakLargerWorlds is the same for larger ones. In daily runs they are cut
// down to one instance that is not disturbed.
func TestSoakLargerWorlds(t *testing.T) {
	some := one
	if soak {
		some = both
	}
	exploreAll(t, map[string]*scope{
		"bucket, older leases":     {limit: largerBucket, rules: longer, nodes: 1 + more, costs: one, wants: two, bound: 6},
		"bucket, more instances":   {limit: smallBucket, rules: briefly, nodes: 1 + 2*more, costs: one, wants: two, bound: 4},
		"bucket, several limits":   {limit: smallBucket, rules: briefly, nodes: 1 + more, costs: one, wants: two, holds: soak, bound: 4},
		"bucket, refunds":          {limit: smallBucket, rules: briefly, nodes: 1 + more, costs: one, wants: two, backs: soak, bound: 4},
		"fixed, two instances":     {limit: fixed, rules: briefly, nodes: 1 + more, mail: more, costs: one, wants: two, bound: 2},
		"fixed, several limits":    {limit: fixed, rules: briefly, nodes: 1, mail: more, costs: some, wants: two, holds: soak, bound: 2},
		"fixed, refunds":           {limit: fixed, rules: briefly, nodes: 1 + more, costs: one, wants: two, backs: soak, bound: 2},
		"fixed, resets":            {limit: fixed, rules: briefly, nodes: 1, mail: more, costs: some, wants: two, holds: soak, reset: true, bound: 2},
		"first hit, two instances": {limit: firstHit, rules: briefly, nodes: 1 + more, mail: more, costs: one, wants: two, bound: 2},
		"first hit, several":       {limit: firstHit, rules: briefly, nodes: 1, mail: more, costs: some, wants: two, holds: soak, bound: 2},
		"sliding, two instances":   {limit: sliding, rules: briefly, nodes: 1 + more, mail: more, costs: one, wants: two, bound: 2},
		"sliding, several limits":  {limit: sliding, rules: briefly, nodes: 1, mail: more, costs: some, wants: two, holds: soak, bound: 2},
		"sliding, refunds":         {limit: sliding, rules: briefly, nodes: 1, mail: more, costs: one, wants: two, holds: soak, backs: soak, bound: 2},
	})
}

func exploreAll(t *testing.T, worlds map[string]*scope) {
	for name, c := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.explore(t)
			if c.greatest > c.bound {
				t.Errorf("%d admitted, the bound is %d:\n%s", c.greatest, c.bound, c.trace)
			}
		})
	}
}

// TestTheCheckSeesFaults: each of these breaks one thing that the proof rests
// on, and the check finds a way to more than the limit.
func TestTheCheckSeesFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		scope
	}{
		{"the bucket keeps its burst", scope{limit: smallBucket, rules: lavish, nodes: 2, costs: one, wants: two, bound: 4}},
		{"a lease outlives its age", scope{
			limit: smallBucket, rules: briefly, nodes: 1, costs: one, wants: two, bound: 4,
			tamper: func(l *lot) { l.until += 2 * tick },
		}},
		{"a lease outlives its window", scope{
			limit: fixed, rules: briefly, nodes: 1, costs: one, wants: two, bound: 2,
			tamper: func(l *lot) { l.until = l.sent + ageOf(2) },
		}},
		{"a lease outlives its first-hit window", scope{
			limit: firstHit, rules: briefly, nodes: 1, costs: one, wants: two, bound: 2,
			tamper: func(l *lot) { l.until = l.sent + ageOf(2) },
		}},
		{"a lease outlives its sub-window", scope{
			limit: sliding, rules: briefly, nodes: 1, costs: one, wants: two, bound: 2,
			tamper: func(l *lot) { l.until = l.sent + ageOf(2) },
		}},
		{"tokens are granted twice", scope{
			limit: fixed, rules: briefly, nodes: 1, costs: one, wants: two, bound: 2,
			tamper: func(l *lot) { l.left.Add(1) },
		}},
		{"more is refunded than was spent", scope{
			limit: fixed, rules: briefly, nodes: 1, costs: one, wants: two, backs: true, bound: 2,
			tamper: func(l *lot) { l.size++ },
		}},
		{"what a reset forgot is given back", scope{
			limit: fixed, rules: briefly, nodes: 1, mail: 1, costs: one, wants: two, holds: true, reset: true, bound: 2,
			tamper: func(l *lot) { l.era = 1 << 40 },
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.explore(t)
			if c.greatest <= c.bound {
				t.Errorf("%d states, and none beyond %d", c.states, c.bound)
			}
		})
	}
}

// TestFullBurstReachesItsBound: a bucket that keeps its burst is exceeded by
// what it refills in the age of a lease, which is one whole token here, and by no
// more; so the bound is no larger than it must be.
func TestFullBurstReachesItsBound(t *testing.T) {
	c := scope{limit: smallBucket, rules: lavish, nodes: 1 + more, costs: one, wants: two, bound: 4 + 2}
	c.explore(t)
	if c.greatest != 4+1 {
		t.Errorf("%d admitted, want %d:\n%s", c.greatest, 4+1, c.trace)
	}
}
