package algo_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// permits is a limit of n in flight.
func permits(t *testing.T, n int64) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: n})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPermits(t *testing.T) {
	p, s := permits(t, 3), &algo.Permits{}
	acquire := func(now int64, owner string, cost int64, want algo.Verdict) {
		t.Helper()
		if got := p.Acquire(s, now, owner, cost, 100); got != want {
			t.Errorf("at %d: %s acquires %d: got %+v, want %+v", now, owner, cost, got, want)
		}
	}
	acquire(0, "ann", 0, algo.Verdict{Allowed: true, X: 3})
	acquire(0, "ann", 4, algo.Verdict{Never: true, X: 3})
	acquire(0, "ann", 1, algo.Verdict{Allowed: true, X: 2, Z: 100})
	acquire(10, "bob", 2, algo.Verdict{Allowed: true, Z: 100})
	acquire(20, "cleo", 1, algo.Verdict{Y: 80, Z: 90})
	acquire(20, "cleo", 0, algo.Verdict{Y: 80, Z: 90})
	acquire(20, "bob", 1, algo.Verdict{Allowed: true, X: 1, Z: 100}) // another number, another expiry
	if p.Renew(s, 20, "cleo", 100) || p.Release(s, 20, "cleo") {
		t.Error("who has none renewed or released some")
	}
	if !p.Renew(s, 60, "ann", 100) || !p.Release(s, 60, "bob") || p.Release(s, 60, "bob") {
		t.Error("who has some could not renew or release them, once")
	}
	acquire(120, "cleo", 2, algo.Verdict{Allowed: true, Z: 100}) // ann lives until 160
	acquire(160, "dan", 1, algo.Verdict{Allowed: true, Z: 100})  // and is gone
	if p.Renew(s, 160, "ann", 100) {
		t.Error("an expired permit was renewed")
	}
}

// TestPermitsClockBack: a step back neither frees a permit nor keeps it longer.
func TestPermitsClockBack(t *testing.T) {
	p, s := permits(t, 1), &algo.Permits{}
	p.Acquire(s, 1_000_000, "ann", 1, 100)
	if v := p.Acquire(s, 500_000, "bob", 1, 100); v.Allowed || v.Y != 100 {
		t.Errorf("after a step back: %+v, want a denial for 100", v)
	}
	if v := p.Acquire(s, 500_100, "bob", 1, 100); !v.Allowed {
		t.Errorf("when the permit is over: %+v", v)
	}
}

// TestPermitsNeverMoreThanTheLimit counts by itself who is in flight.
func TestPermitsNeverMoreThanTheLimit(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(200, 20_000)) {
		r := algotest.Rand(seed, n)
		p, s := permits(t, 1+r.Int64N(6)), &algo.Permits{}
		count, until := map[string]int64{}, map[string]int64{}
		now := int64(1_000_000)
		for range 200 {
			now += r.Int64N(30)
			owner, cost, hold := fmt.Sprint(r.IntN(8)), 1+r.Int64N(3), 1+r.Int64N(100)
			used := int64(0)
			for o, u := range until {
				if u <= now {
					delete(until, o)
					delete(count, o)
				}
				used += count[o]
			}
			switch had := count[owner] > 0; r.IntN(4) {
			case 0:
				if p.Renew(s, now, owner, hold) != had {
					t.Fatalf("seed %d round %d: renew of %d is %v", seed, n, count[owner], !had)
				}
				if had {
					until[owner] = now + hold
				}
			case 1:
				if p.Release(s, now, owner) != had {
					t.Fatalf("seed %d round %d: release of %d is %v", seed, n, count[owner], !had)
				}
				delete(until, owner)
				delete(count, owner)
			default:
				fits := used-count[owner]+cost <= p.Count
				if v := p.Acquire(s, now, owner, cost, hold); v.Allowed != fits || v.Never != (cost > p.Count) {
					t.Fatalf("seed %d round %d: %d of %d, %d used, %d by the owner: %+v", seed, n, cost, p.Count, used, count[owner], v)
				}
				if fits {
					count[owner], until[owner] = cost, now+hold
				}
			}
		}
	}
}

// TestConcurrencyIsNotSpent: a limit of this kind admits nothing that is spent.
func TestConcurrencyIsNotSpent(t *testing.T) {
	p := permits(t, 5)
	if v := algo.Decide(p, &algo.State{}, 1, 1, 0); v.Allowed || !v.Never {
		t.Errorf("got %+v, want never", v)
	}
	for _, n := range []int64{0, -1, algo.MaxCount + 1} {
		if _, err := algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: n}); !errors.Is(err, algo.ErrCount) {
			t.Errorf("%d permits: error %v", n, err)
		}
	}
}
