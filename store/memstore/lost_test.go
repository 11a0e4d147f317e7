package memstore

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// spendEverywhere lets workers spend 1 from each of many keys, more often than
// the limit has, and checks that every key admitted exactly burst.
func spendEverywhere(t *testing.T, w *world, keys int, specs []*algo.Spec, burst int64) {
	t.Helper()
	const workers = 6
	admitted := make([]atomic.Int64, keys)
	crowd(workers, func(worker int) {
		r := rand.New(rand.NewPCG(uint64(worker), 1))
		for range burst {
			for _, i := range r.Perm(keys) {
				p := specs[i%len(specs)]
				if w.one(fmt.Sprint("k", i), p, 1, 0).Allowed {
					admitted[i].Add(1)
				}
			}
		}
	})
	for i := range admitted {
		if got := admitted[i].Load(); got != burst {
			t.Fatalf("key %d of kind %d: %d admitted of %d", i, specs[i%len(specs)].Kind, got, burst)
		}
	}
	if got := w.Stats(); got.Keys != int64(keys) || got.Evicted != 0 {
		t.Errorf("stats %+v, want %d keys", got, keys)
	}
}

// TestGrowthLosesNothing: while the table grows from nothing, each key admits
// exactly what it has.
func TestGrowthLosesNothing(t *testing.T) {
	t.Run("words", func(t *testing.T) {
		spendEverywhere(t, newWorld(t), soak(6000, 100_000), []*algo.Spec{perHour(t, 3)}, 3)
	})
	t.Run("all kinds", func(t *testing.T) {
		spendEverywhere(t, newWorld(t), soak(4000, 50_000), everyKind(t, 3), 3)
	})
}

// TestSoakGrowth grows many small tables, where splits meet most often.
func TestSoakGrowth(t *testing.T) {
	specs := everyKind(t, 2)
	for range soak(5, 1000) {
		spendEverywhere(t, newWorld(t), 1500, specs, 2)
	}
}

// convertible are limits of one shape: words of two units, and one that fits into
// no word.
func convertible(t testing.TB) []*algo.Spec {
	t.Helper()
	var specs []*algo.Spec
	for _, n := range []int64{10_000, 11_000, 10_007} {
		specs = append(specs, compile(t, algo.Spec{Kind: algo.TokenBucket, Count: n, Period: 1000 * second, Burst: 1e6}))
	}
	if a, b, c := specs[0].WordUnit(), specs[1].WordUnit(), specs[2].WordUnit(); a == b || b == 0 || c != 0 {
		t.Fatalf("units %d, %d, %d", a, b, c)
	}
	return specs
}

// TestConversionLosesNothing: the same keys are asked by limits of different
// units while the table grows. Each spend moves the instant of full recovery by
// its price, and a change of the unit by less than a µs.
func TestConversionLosesNothing(t *testing.T) {
	specs := convertible(t)
	const price = 1000 * second
	w, keys := newWorld(t), soak(800, 20_000)
	type sum struct{ spent, n atomic.Int64 }
	sums := make([]sum, keys)
	crowd(6, func(worker int) {
		r := rand.New(rand.NewPCG(uint64(worker), 2))
		for range 4 {
			for _, i := range r.Perm(keys) {
				p := specs[r.IntN(3)]
				name := fmt.Sprint("k", i)
				if r.IntN(4) == 0 { // as one of several
					w.all(store.Check{Key: name, Spec: p, Cost: 2}, store.Check{Key: "all", Spec: specs[0], Cost: 1})
					sums[i].spent.Add(price / p.Count)
				} else {
					w.one(name, p, 2, 0)
					sums[i].spent.Add(price / p.Count)
				}
				sums[i].spent.Add(price / p.Count)
				sums[i].n.Add(1)
			}
		}
	})
	for i := range sums {
		v := w.one(fmt.Sprint("k", i), specs[0], 0, 0)
		got, want := specs[0].ResetAfter(v), sums[i].spent.Load()
		if slack := 4 * sums[i].n.Load(); got < want || got > want+slack {
			t.Fatalf("key %d recovers in %dµs, want %d to %d", i, got, want, want+slack)
		}
	}
}

// TestRestsComeDuringSplit: a page of words only gets its places for other states
// from holders and from its lock at the same time, and while it splits.
func TestRestsComeDuringSplit(t *testing.T) {
	specs := convertible(t)
	for range soak(30, 3000) {
		w := newWorld(t)
		const keys = 700
		for i := range keys {
			w.one(fmt.Sprint("k", i), specs[0], 100, 0)
		}
		crowd(4, func(worker int) {
			for i := range keys {
				w.one(fmt.Sprint("k", (i*11+worker*100)%keys), specs[2], 100, 0)
				w.one(fmt.Sprint("new ", worker, i), specs[2*(i%2)], 100, 0)
			}
		})
		for i := range keys {
			want := int64(1000*second/10_000*100 + 4*100*(1000*second/10_007))
			v := w.one(fmt.Sprint("k", i), specs[0], 0, 0)
			if got := specs[0].ResetAfter(v); got < want || got > want+1000 {
				t.Fatalf("key %d recovers in %dµs, want %d", i, got, want)
			}
		}
	}
}

// TestEvictionLosesNothingElse: a flood of keys that recover at once pushes
// nothing out that is in deficit.
func TestEvictionLosesNothingElse(t *testing.T) {
	brief := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1, Burst: 1})
	for name, option := range map[string]Option{"keys": MaxKeys(1200), "bytes": MaxBytes(1)} {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(t, option), perHour(t, 4)
			const keys = 60 // so few that among 32 candidates there always are others
			admitted := make([]atomic.Int64, keys)
			flood := func(worker, i int) {
				for j := range soak(12, 200) {
					w.one(fmt.Sprint("flood ", worker, i, j), brief, 1, 0)
				}
			}
			crowd(4, func(worker int) {
				for i := range keys * 4 {
					if w.one(fmt.Sprint("k", (i+worker*7)%keys), p, 1, 0).Allowed {
						admitted[(i+worker*7)%keys].Add(1)
					}
					flood(worker, i)
				}
			})
			for i := range admitted {
				if got := admitted[i].Load(); got != 4 {
					t.Errorf("key %d: %d admitted of 4", i, got)
				}
			}
			if st := w.Stats(); st.Evicted == 0 {
				t.Errorf("nothing was evicted: %+v", st)
			}
		})
	}
}
