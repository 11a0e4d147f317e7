package lease_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store/lease"
)

// TestSaturated: eight instances share 1,000,000/s with a burst of 100,000 and
// are asked for more than that all the time. Nothing is admitted beyond the limit,
// at least 98 % of it is, and a call to the store pays for at least 50 requests.
func TestSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		def := algo.Spec{Kind: algo.TokenBucket, Count: 1_000_000, Period: 1e6, Burst: 100_000}
		f := newFleet(t, algotest.Seed(t, 0), 0, def)
		const settle, whole = 80 * time.Millisecond, 160 * time.Millisecond
		start := time.Now()
		for range 8 {
			m := f.join()
			for range 64 {
				f.load.Go(func() {
					for time.Since(start) < whole {
						m.ask(1)
					}
				})
			}
		}
		f.load.Wait()
		f.close()
		from, to := start.Add(settle).UnixMicro(), start.Add(whole).UnixMicro()
		share := float64(f.log.sum(from, to)) / float64(to-from)
		perCall := float64(len(f.log.log)) / float64(f.calls())
		t.Logf("%.2f %% of the limit admitted, %.0f requests per call, %d denied", 100*share, perCall, f.denied.Load())
		if over := f.log.excess(def); over > 0 {
			t.Errorf("%d beyond the limit", over)
		}
		if share < 0.98 || perCall < 50 || f.failed.Load() > 0 {
			t.Errorf("%.4f of the limit, %.1f requests per call, %d failed", share, perCall, f.failed.Load())
		}
	})
}

// TestOverload: twice as many requests come as the limit allows, whether the ones
// before are answered or not. Half of them are denied, and all within 20 ms.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		def := algo.Spec{Kind: algo.TokenBucket, Count: 1_000_000, Period: 1e6, Burst: 100_000}
		f := newFleet(t, algotest.Seed(t, 0), 0, def)
		const settle, whole = 70 * time.Millisecond, 130 * time.Millisecond
		var slowest atomic.Int64
		start := time.Now()
		for range 8 {
			m := f.join()
			f.load.Go(func() {
				for time.Since(start) < whole {
					for range 250 {
						f.load.Go(func() {
							asked := time.Now()
							m.ask(1)
							if took := int64(time.Since(asked)); took > int64(20*time.Millisecond) {
								slowest.Store(took)
							}
						})
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		f.load.Wait()
		f.close()
		from, to := start.Add(settle).UnixMicro(), start.Add(whole).UnixMicro()
		share := float64(f.log.sum(from, to)) / float64(to-from)
		perCall := float64(len(f.log.log)) / float64(f.calls())
		t.Logf("%.2f %% of the limit admitted, %.0f requests per call, %d denied", 100*share, perCall, f.denied.Load())
		if over := f.log.excess(def); over > 0 {
			t.Errorf("%d beyond the limit", over)
		}
		if share < 0.98 || perCall < 50 || slowest.Load() > 0 || f.denied.Load() == 0 {
			t.Errorf("%.4f of the limit, %.1f requests per call, one answered after %v", share, perCall, time.Duration(slowest.Load()))
		}
	})
}

// TestFleet: instances under uneven load, some of which crash while others take
// their place, over a network that is slow and loses messages. Whatever happens,
// the limit holds.
func TestFleet(t *testing.T) {
	seed := algotest.Seed(t, 0)
	limits := map[string]algo.Spec{
		"bucket":    {Kind: algo.TokenBucket, Count: 20_000, Period: 1e6, Burst: 3_000},
		"fixed":     {Kind: algo.FixedWindow, Count: 4_000, Period: 200_000},
		"first hit": {Kind: algo.FixedWindow, Count: 4_000, Period: 200_000, FirstHit: true},
		"sliding":   {Kind: algo.SlidingWindow, Count: 4_000, Period: 200_000, Sub: 5},
	}
	for name, def := range limits {
		for _, instances := range []int{1, 8, 64} {
			for _, lose := range []int{0, 20} {
				if instances == 64 && lose == 0 && os.Getenv("SLUICE_SOAK") == "" {
					continue // the other one has all of it
				}
				t.Run(fmt.Sprintf("%s, %d instances, losing %d", name, instances, lose), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						f := newFleet(t, seed, uint64(instances), def)
						f.lose, f.slowest = lose, 2*time.Millisecond
						f.storm(instances, 300*time.Millisecond)
						if over := f.log.excess(def); over > 0 {
							t.Errorf("%d beyond the limit", over)
						}
						sum := f.log.sum(0, 1<<62)
						t.Logf("%d admitted, %d denied, %d failed, %d calls", sum, f.denied.Load(), f.failed.Load(), f.calls())
						if sum < 5_000 {
							t.Error("too few")
						}
					})
				})
			}
		}
	}
}

// TestFullBurstFleet: with the whole burst the limit is exceeded by no more than
// what is refilled in the age of a lease.
func TestFullBurstFleet(t *testing.T) {
	seed := algotest.Seed(t, 0)
	synctest.Test(t, func(t *testing.T) {
		def := algo.Spec{Kind: algo.TokenBucket, Count: 20_000, Period: 1e6, Burst: 3_000}
		f := newFleet(t, seed, 1, def, lease.FullBurst())
		f.storm(8, time.Second)
		t.Logf("%d beyond the limit", f.log.excess(def))
		if over := f.log.excess(def); over > 1_000 {
			t.Errorf("%d beyond the limit, want at most 1000", over)
		}
	})
}

// storm lets instances work for a while. The n-th gets the n-th part of the load
// of the first, in bursts of random costs; now and then one crashes and another
// takes its place.
func (f *fleet) storm(instances int, span time.Duration) {
	start := time.Now()
	base := f.rng.Uint64()
	for i := range instances {
		workers, seed := 1+16/(i+1), base+uint64(i)
		f.load.Go(func() {
			r := algotest.Rand(seed, 0)
			for time.Since(start) < span {
				m := f.join()
				life := time.Duration(r.Int64N(int64(span)))
				m.work(seed, workers, min(life, span-time.Since(start)))
				m.far.cut.Store(true)
			}
		})
	}
	f.load.Wait()
	f.close()
}

// work keeps an instance busy, and returns without looking after it.
func (m *member) work(seed uint64, workers int, span time.Duration) {
	start := time.Now()
	done := make(chan struct{}, workers)
	for i := range workers {
		go func() {
			r := algotest.Rand(seed, uint64(i)+1)
			for time.Since(start) < span {
				for range r.IntN(50) {
					m.ask(1 + r.Int64N(3)*r.Int64N(2))
				}
				time.Sleep(time.Duration(r.Int64N(int64(5 * time.Millisecond))))
			}
			done <- struct{}{}
		}()
	}
	for range workers {
		<-done
	}
}
