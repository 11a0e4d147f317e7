package lease_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/storetest"
)

var (
	thousands = algo.Spec{Kind: algo.TokenBucket, Count: 10_000, Period: 1e6, Burst: 10_000}
	hourly    = algo.Spec{Kind: algo.FixedWindow, Count: 10_000, Period: 3600 * 1e6}
)

// TestTransparent: where nothing is leased the store is the inner store.
func TestTransparent(t *testing.T) {
	storetest.Run(t, func(t testing.TB, now func() time.Time) store.Store {
		s, err := lease.New(algotest.NewModel(now), lease.WithClock(now), lease.Share(math.SmallestNonzeroFloat64))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, storetest.Steps(1_000))
}

func TestSettings(t *testing.T) {
	inner := algotest.NewModel(time.Now)
	for _, c := range []struct {
		inner store.Store
		opt   lease.Option
		want  error
	}{
		{nil, lease.FullBurst(), lease.ErrInner},
		{inner, lease.Age(time.Millisecond), lease.ErrAge},
		{inner, lease.Age(time.Minute), lease.ErrAge},
		{inner, lease.Share(0), lease.ErrShare},
		{inner, lease.Share(1.01), lease.ErrShare},
		{inner, lease.Share(math.NaN()), lease.ErrShare},
		{inner, lease.MaxKeys(0), lease.ErrKeys},
		{inner, lease.MaxKeys(1 << 30), lease.ErrKeys},
	} {
		if _, err := lease.New(c.inner, c.opt); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

// in runs a test with one instance in virtual time.
func in(t *testing.T, def algo.Spec, run func(t *testing.T, m *member), opts ...lease.Option) {
	t.Helper()
	seed := algotest.Seed(t, 0)
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, seed, 0, def, opts...)
		m := f.join()
		run(t, m)
		f.close()
	})
}

// warm asks often enough for leases to be taken.
func (m *member) warm() {
	for range 20 {
		m.ask(1)
	}
	time.Sleep(5 * time.Millisecond)
}

func (m *member) take(op store.Op, checks ...store.Check) []store.Check {
	m.fleet.Helper()
	if err := m.Take(context.Background(), op, checks); err != nil {
		m.fleet.Fatal(err)
	}
	return checks
}

// left is what the shared store has left for the key.
func (m *member) left() int64 {
	checks := []store.Check{{Key: "k", Spec: m.fleet.spec}}
	if err := m.fleet.shared.Take(context.Background(), store.Spend, checks); err != nil {
		m.fleet.Fatal(err)
	}
	return m.fleet.spec.Remaining(checks[0].Verdict)
}

// TestSteadyState: a key in steady use below its limit never waits for the
// network, and hardly ever asks the store.
func TestSteadyState(t *testing.T) {
	for _, def := range []algo.Spec{thousands, hourly} {
		in(t, def, func(t *testing.T, m *member) {
			for i := range 3_000 { // 1000 per second
				asked := time.Now()
				if !m.ask(1) {
					t.Fatal("denied")
				}
				if i > 500 && time.Since(asked) > 0 {
					t.Fatalf("request %d waited for %v", i, time.Since(asked))
				}
				time.Sleep(time.Millisecond)
			}
			if calls := m.far.calls.Load(); calls > 3_000/10 {
				t.Errorf("%d calls for 3000 requests", calls)
			}
		})
	}
}

// TestSeldomUsed: a key that is asked now and then is not leased.
func TestSeldomUsed(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		for i := range int64(50) {
			m.ask(1)
			if left := m.left(); left != 10_000-i-1 {
				t.Fatalf("after %d requests %d are left", i+1, left)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// TestUnusedComesBack: within the age of a lease what a window's lease did not
// use is back at the store.
func TestUnusedComesBack(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		m.warm()
		for range 500 {
			m.ask(1)
			time.Sleep(100 * time.Microsecond)
		}
		if left := m.left(); left >= 10_000-520 {
			t.Errorf("%d left: nothing is leased", left)
		}
		time.Sleep(lease.DefaultAge + 2*time.Millisecond)
		if left := m.left(); left != 10_000-520 {
			t.Errorf("%d left, want %d", left, 10_000-520)
		}
	})
}

// TestClose gives back what is left, and everything after it goes to the store.
func TestClose(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		m.warm()
		if left := m.left(); left >= 10_000-20 {
			t.Errorf("%d left: nothing is leased", left)
		}
		for range 2 {
			if err := m.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if left := m.left(); left != 10_000-20 {
			t.Errorf("%d left, want %d", left, 10_000-20)
		}
		m.warm()
		if left := m.left(); left != 10_000-40 {
			t.Errorf("%d left, want %d", left, 10_000-40)
		}
	})
}

// TestCloseUnderLoad: whoever waits gets an answer.
func TestCloseUnderLoad(t *testing.T) {
	in(t, thousands, func(t *testing.T, m *member) {
		for range 200 {
			m.fleet.load.Go(func() { m.ask(1) })
		}
		time.Sleep(100 * time.Microsecond)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Microsecond)
		defer cancel()
		_ = m.Close(ctx)
		m.fleet.load.Wait()
		if sum := m.fleet.log.sum(0, 1<<62); sum != 200 {
			t.Errorf("%d of 200 admitted", sum)
		}
	})
}

// TestAllAreServed: a crowd that finds no tokens waits for them; nobody is
// denied while the store has any, and few calls serve them all.
func TestAllAreServed(t *testing.T) {
	in(t, thousands, func(t *testing.T, m *member) {
		for i := range 3_000 {
			m.fleet.load.Go(func() {
				if !m.ask(1) {
					t.Errorf("request %d denied", i)
				}
			})
		}
		m.fleet.load.Wait()
		if calls := m.far.calls.Load(); calls > 30 {
			t.Errorf("%d calls for a crowd of 3000", calls)
		}
	})
}

// TestPatience: a request waits no longer than its context.
func TestPatience(t *testing.T) {
	in(t, thousands, func(t *testing.T, m *member) {
		m.far.slowest = 20 * time.Millisecond
		for range 50 {
			m.fleet.load.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				asked := time.Now()
				err := m.Take(ctx, store.Spend, []store.Check{{Key: "k", Spec: m.fleet.spec, Cost: 1}})
				if err != nil && !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) > time.Millisecond {
					t.Errorf("%v after %v", err, time.Since(asked))
				}
			})
		}
		m.fleet.load.Wait()
	})
}
