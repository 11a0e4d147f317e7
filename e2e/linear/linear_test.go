package linear

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func openMemstore(now func() time.Time) store.Store { return memstore.New(memstore.WithClock(now)) }

// seed is printed with every complaint, which together with the number of the
// history names the calls; their order in time is the scheduler's.
var seed = rand.Uint64()

// onOneKey draws calls of one check.
func onOneKey(p *algo.Spec) func(r *rand.Rand) (store.Op, []store.Check) {
	return func(r *rand.Rand) (store.Op, []store.Check) {
		c := store.Check{Key: "k", Spec: p, Cost: 1 + r.Int64N(4)}
		switch k := r.IntN(20); {
		case k < 5:
			c.Cost = 0
		case k < 8:
			return store.Refund, []store.Check{c}
		case k < 9:
			return store.Reset, []store.Check{c}
		}
		return store.Spend, []store.Check{c}
	}
}

// onSeveralKeys draws calls of one to three checks, sometimes of the same key.
func onSeveralKeys(specs []*algo.Spec, keys int) func(r *rand.Rand) (store.Op, []store.Check) {
	return func(r *rand.Rand) (store.Op, []store.Check) {
		op := store.Spend
		switch k := r.IntN(20); {
		case k < 2:
			op = store.Refund
		case k < 3:
			op = store.Reset
		case k < 6:
			op = store.Reserve
		case k < 9:
			op = store.Commit
		}
		peek := op == store.Spend && r.IntN(3) == 0
		var checks []store.Check
		for range 1 + r.IntN(3) {
			i := r.IntN(keys)
			c := store.Check{Key: fmt.Sprint("k", i), Spec: specs[i%len(specs)], Cost: 1 + r.Int64N(3)}
			if peek {
				c.Cost = 0
			}
			if op == store.Reserve || op == store.Commit {
				c.ID, c.Hold = fmt.Sprint(r.IntN(3)), 3600e6
			}
			checks = append(checks, c)
		}
		return op, checks
	}
}

// check records histories and lets porcupine judge them.
func check(t *testing.T, o open, histories, calls int, draw func(r *rand.Rand) (store.Op, []store.Check)) {
	t.Helper()
	for n := range histories {
		history := record(t, o, rand.New(rand.NewPCG(seed, uint64(n))), calls, draw)
		if !linearizable(history) {
			t.Fatalf("seed %d: history %d is not linearizable:\n%s", seed, n, describe(history))
		}
	}
}

// TestSoakOneKey: histories of a single key, for every algorithm.
func TestSoakOneKey(t *testing.T) {
	specs := limits(t)
	histories, calls := size()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		t.Run(name, func(t *testing.T) {
			check(t, openMemstore, histories/len(specs)+1, calls, onOneKey(specs[name]))
		})
	}
}

// TestSoakSeveralKeys: histories of calls over several keys of all algorithms, all
// or nothing, with reservations.
func TestSoakSeveralKeys(t *testing.T) {
	specs := limits(t)
	histories, calls := size()
	for _, mix := range [][]string{
		{"token_bucket"},
		{"token_bucket", "fixed_window", "sliding_log"},
		{"token_bucket no word", "sliding_window", "interval_bucket", "token_bucket thirds"},
		{"fixed_window first_hit", "weighted_window", "leaky_bucket", "warm_up"},
	} {
		t.Run(fmt.Sprint(mix), func(t *testing.T) {
			var chosen []*algo.Spec
			for _, name := range mix {
				chosen = append(chosen, specs[name])
			}
			check(t, openMemstore, histories/4, calls, onSeveralKeys(chosen, 5))
		})
	}
}

// TestSoakUnits: limits of one shape and of different units share their keys.
func TestSoakUnits(t *testing.T) {
	specs := limits(t)
	var units []*algo.Spec
	for _, n := range []int64{10, 7, 999_983} {
		p, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: n, Period: 1e6, Burst: 10, Ordinal: 1})
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, p)
	}
	histories, calls := size()
	check(t, openMemstore, histories/10, calls, func(r *rand.Rand) (store.Op, []store.Check) {
		op, checks := onSeveralKeys([]*algo.Spec{specs["token_bucket"]}, 2)(r)
		for i := range checks {
			checks[i].Spec = units[r.IntN(len(units))]
		}
		return op, checks
	})
}
