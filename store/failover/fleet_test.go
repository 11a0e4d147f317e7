package failover_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// fleet is a number of instances with one main store.
type fleet struct {
	t     *testing.T
	mains []*shaky
	all   []*failover.Store
	spec  *algo.Spec
}

const (
	rate  = 100 // per second
	burst = 80
)

func newFleet(t *testing.T, live int) *fleet {
	f := &fleet{t: t}
	f.spec = must(algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: rate, Period: second, Burst: burst}))
	main := memstore.New()
	for rank := range live {
		link := &shaky{Store: main}
		local := split.New(memstore.New(), split.Fixed{Rank: rank, Live: live})
		f.mains = append(f.mains, link)
		f.all = append(f.all, must(failover.New(link, local, failover.Direct())))
	}
	return f
}

// run lets every instance ask every 5 ms and returns what was admitted, and how much
// of it without the main store.
func (f *fleet) run(during time.Duration) (admitted, degraded int64) {
	for begin := time.Now(); time.Since(begin) < during; time.Sleep(5 * time.Millisecond) {
		for _, s := range f.all {
			checks := []store.Check{{Key: "ann", Spec: f.spec, Cost: 1}}
			if err := s.Take(context.Background(), store.Spend, checks); err != nil {
				f.t.Fatal(err)
			}
			if checks[0].Verdict.Allowed {
				admitted++
				if checks[0].Degraded {
					degraded++
				}
			}
		}
	}
	return admitted, degraded
}

// within fails unless got is at most the limit and at least nearly as much.
func within(t *testing.T, what string, got int64, most float64) {
	t.Helper()
	if float64(got) > most || float64(got) < 0.8*most {
		t.Errorf("%s: %d admitted, want at most %.0f and not much less", what, got, most)
	}
}

// TestPartition: one instance of eight is cut off for a minute. It goes on with its
// share, and that is all there is above the limit.
func TestPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 8)
		begin := time.Now()
		before, _ := f.run(5 * time.Second)
		f.mains[3].set(errReset, 0, false)
		cut, degraded := f.run(time.Minute)
		f.mains[3].set(nil, 0, false)
		after, more := f.run(5 * time.Second)
		took := time.Since(begin).Seconds()
		within(t, "cut off", degraded+more, (burst+rate*61)/8.0)
		within(t, "in all", before+cut+after, burst+rate*took+(burst+rate*61)/8.0)
	})
}

// TestOutage: the store is gone for all. Together they admit the limit.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		for _, m := range f.mains {
			m.set(errReset, 0, false)
		}
		admitted, degraded := f.run(20 * time.Second)
		if admitted != degraded {
			t.Errorf("%d of %d degraded", degraded, admitted)
		}
		within(t, "outage", admitted, burst+rate*20)
		for _, s := range f.all {
			s.Close()
		}
	})
}

// TestWarm: who has spent more than his share when the outage begins has nothing left
// of it, whether in small pieces or in one, and what was never taken is there. What was
// given back is not: it may have been spent in an outage before.
func TestWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		take := func(op store.Op, key string, cost int64) bool {
			checks := []store.Check{{Key: key, Spec: f.spec, Cost: cost, ID: "1", Hold: second}}
			if err := f.all[0].Take(t.Context(), op, checks); err != nil {
				t.Fatal(err)
			}
			return checks[0].Verdict.Allowed
		}
		share := func(key string) (n int) {
			for take(store.Spend, key, 1) {
				n++
			}
			return n
		}
		for range burst {
			take(store.Spend, "busy", 1)
		}
		take(store.Spend, "refunded", burst/4)
		take(store.Refund, "refunded", 10)
		take(store.Spend, "much", burst)
		take(store.Spend, "some", 15)
		take(store.Spend, "some", 15)
		take(store.Reserve, "reserved", burst)
		take(store.Commit, "reserved", 5)
		take(store.Reserve, "open", burst)
		f.mains[0].set(errReset, 0, false)
		for key, want := range map[string]int{
			"busy": 0, "refunded": 0, "much": 0, "some": 0, "reserved": burst/4 - 5, "open": burst / 4, "new": burst / 4,
		} {
			if got := share(key); got != want {
				t.Errorf("%s: %d left of the share, want %d", key, got, want)
			}
		}
		f.all[0].Close()
	})
}

// TestFlapping: a store that comes and goes gives no fresh burst each time.
func TestFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		begin, sum := time.Now(), int64(0)
		for range 40 {
			for _, m := range f.mains {
				m.set(errReset, 0, false)
			}
			_, degraded := f.run(time.Second)
			for _, m := range f.mains {
				m.set(nil, 0, false)
			}
			_, more := f.run(600 * time.Millisecond)
			sum += degraded + more
		}
		if most := burst + rate*time.Since(begin).Seconds(); float64(sum) > most {
			t.Errorf("%d admitted in outages, at most %.0f expected", sum, most)
		}
		opened := int64(0)
		for _, s := range f.all {
			opened += s.Stats().Opened
			s.Close()
		}
		if opened < 4*30 {
			t.Errorf("opened only %d times", opened)
		}
	})
}
