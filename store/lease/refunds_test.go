package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// refunding asks for 1 again and again until span is over, or for windows until
// 20 were denied, and refunds one in so many. It returns what was admitted and not
// refunded.
func (m *member) refunding(seed, n uint64, oneIn int, pause, span time.Duration) (net int64) {
	r, start, window := algotest.Rand(seed, n), time.Now(), m.fleet.def.Kind == algo.FixedWindow
	for denied := 0; time.Since(start) < span && (denied < 20 || !window); time.Sleep(pause) {
		if !m.ask(1) {
			denied++
			continue
		}
		net++
		if r.IntN(oneIn) == 0 {
			m.take(store.Refund, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1})
			net--
		}
	}
	return net
}

// crowdOf lets workers ask and refund, and returns the sum of what they got.
func (m *member) crowdOf(workers int, seed uint64, oneIn int, pause, span time.Duration) (net int64) {
	sums := make(chan int64, workers)
	for i := range workers {
		go func() { sums <- m.refunding(seed, uint64(i), oneIn, pause, span) }()
	}
	for range workers {
		net += <-sums
	}
	return net
}

// TestRefundedWindow: with refunds all the time a window is used to its end.
func TestRefundedWindow(t *testing.T) {
	seed := algotest.Seed(t, 0)
	in(t, hourly, func(t *testing.T, m *member) {
		net := m.crowdOf(8, seed, 20, 100*time.Microsecond, time.Hour/2)
		m.fleet.close()
		if left := m.left(); net+left != 10_000 || left > 100 {
			t.Errorf("%d admitted and not refunded, %d left of 10000", net, left)
		}
	})
}

// TestRefundedBucket: and a bucket loses next to nothing.
func TestRefundedBucket(t *testing.T) {
	seed := algotest.Seed(t, 0)
	def := algo.Spec{Kind: algo.TokenBucket, Count: 10_000, Period: 1e6, Burst: 2_000}
	in(t, def, func(t *testing.T, m *member) {
		net := m.crowdOf(32, seed, 50, time.Millisecond, time.Second)
		if most := int64(10_000 + 2_000 - 500); net < most*98/100 { // 500 are kept back
			t.Errorf("%d admitted and not refunded, of %d", net, most)
		}
	})
}

// TestResetWhileBusy: nothing comes back that the store has forgotten, neither by
// a refill nor by a request over several limits that is denied after the reset.
func TestResetWhileBusy(t *testing.T) {
	seed := algotest.Seed(t, 0)
	in(t, hourly, func(t *testing.T, m *member) {
		r, log := algotest.Rand(seed, 1), compile(t, few)
		for m.take(store.Spend, store.Check{Key: "other", Spec: log, Cost: 1})[0].Verdict.Allowed {
		}
		for range 50 {
			m.warm()
			for range 40 { // which will all be denied
				m.fleet.load.Go(func() {
					m.take(store.Spend, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1}, store.Check{Key: "other", Spec: log, Cost: 1})
				})
			}
			time.Sleep(time.Duration(r.Int64N(int64(time.Millisecond))))
			m.take(store.Reset, store.Check{Key: "k", Spec: m.fleet.spec})
			spent := []store.Check{{Key: "k", Spec: m.fleet.spec, Cost: 1_000}}
			if err := m.fleet.shared.Take(context.Background(), store.Spend, spent); err != nil {
				t.Fatal(err)
			}
			m.fleet.load.Wait()
			time.Sleep(2 * lease.DefaultAge)
			if left := m.left(); left > 9_000 {
				t.Fatalf("1000 of 10000 are spent, and %d left", left)
			}
		}
	})
}
