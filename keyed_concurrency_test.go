package sluice_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

func TestKeyedConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := sluice.NewKeyedConcurrency(2, memstore.New(), 30*time.Second)
		a, ok, err := c.Allow(ctx, "ann")
		if !ok || err != nil {
			t.Fatalf("first: %v, %v", ok, err)
		}
		b, _, _ := c.Allow(ctx, "ann")
		if _, ok, err := c.Allow(ctx, "ann"); ok || err != nil {
			t.Errorf("third of two: %v, %v", ok, err)
		}
		if n, err := c.InFlight(ctx, "ann"); n != 2 || err != nil {
			t.Errorf("%d in flight, %v, want 2", n, err)
		}
		time.Sleep(10 * time.Minute) // both are renewed all the time
		if _, ok, _ := c.Allow(ctx, "ann"); ok {
			t.Error("a permit that is held has expired")
		}
		if err := a.Release(ctx); err != nil {
			t.Error(err)
		}
		if err := a.Release(ctx); err != nil {
			t.Errorf("a second release: %v", err)
		}
		if n, _ := c.InFlight(ctx, "ann"); n != 1 {
			t.Errorf("%d in flight after a release, want 1", n)
		}
		select {
		case <-b.Lost():
			t.Error("a renewed permit is lost")
		default:
		}
		_ = b.Release(ctx)
	})
}

func TestKeyedConcurrencyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sluice.NewKeyedConcurrency(1, memstore.New(), time.Second)
		p, _, _ := c.Allow(t.Context(), "k")
		go func() {
			time.Sleep(5 * time.Second)
			_ = p.Release(context.Background())
		}()
		start := time.Now()
		q, err := c.Wait(t.Context(), "k")
		if took := time.Since(start); err != nil || took < 5*time.Second || took > 5*time.Second+100*time.Millisecond {
			t.Fatalf("waited %v, %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if _, err := c.WaitN(ctx, "k", 2); !errors.Is(err, sluice.ErrLimited) {
			t.Errorf("got %v, want ErrLimited", err)
		}
		if _, _, err := c.AllowN(ctx, "k", 0); !errors.Is(err, sluice.ErrCost) {
			t.Errorf("got %v, want ErrCost", err)
		}
		if _, _, err := c.Allow(ctx, ""); !errors.Is(err, sluice.ErrKey) {
			t.Errorf("got %v, want ErrKey", err)
		}
		_ = q.Release(context.Background())
	})
}

// outage is a store that can be down.
type outage struct {
	store.Store
	down  atomic.Bool
	calls atomic.Int64
}

var errOutage = errors.New("down")

func (o *outage) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if o.calls.Add(1); o.down.Load() {
		return errOutage
	}
	return o.Store.Take(ctx, op, checks)
}

// TestKeyedConcurrencyIsLost: a permit survives a short outage of the store, and
// is lost after a long one, or when somebody reset the key.
func TestKeyedConcurrencyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &outage{Store: memstore.New()}
		c := sluice.NewKeyedConcurrency(1, s, 3*time.Second)
		p, _, _ := c.Allow(t.Context(), "k")
		s.down.Store(true)
		time.Sleep(2500 * time.Millisecond)
		s.down.Store(false)
		time.Sleep(time.Minute)
		select {
		case <-p.Lost():
			t.Fatal("lost by an outage shorter than the expiry")
		default:
		}
		s.down.Store(true)
		start := time.Now()
		<-p.Lost()
		if took := time.Since(start); took > 3*time.Second+time.Millisecond {
			t.Errorf("found out after %v", took)
		}
		s.down.Store(false)
		if _, ok, _ := c.Allow(t.Context(), "k"); !ok {
			t.Error("the lost permit is not free")
		}
		if err := p.Release(t.Context()); err != nil {
			t.Errorf("release of a lost one: %v", err)
		}
		for _, lose := range []bool{true, false} {
			k := map[bool]string{true: "lost", false: "kept"}[lose]
			p, _, _ := c.Allow(t.Context(), k)
			s.down.Store(lose)
			if err := p.Release(t.Context()); lose != errors.Is(err, errOutage) {
				t.Errorf("%s: %v", k, err)
			}
			s.down.Store(false)
		}
	})
}

func TestKeyedConcurrencyRefusesNonsense(t *testing.T) {
	for _, f := range []func(){
		func() { sluice.NewKeyedConcurrency(0, memstore.New(), time.Second) },
		func() { sluice.NewKeyedConcurrency(1, memstore.New(), 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

// TestKeyedConcurrencyOfAShare: an instance whose share is nothing waits, without
// asking all the time, until its context ends.
func TestKeyedConcurrencyOfAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &outage{Store: split.New(memstore.New(), split.Fixed{Rank: 0, Live: 3})}
		c := sluice.NewKeyedConcurrency(2, s, time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Wait(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if n := s.calls.Load(); n > 1000 {
			t.Errorf("asked %d times in a minute", n)
		}
		if n, err := c.InFlight(t.Context(), "k"); n != 0 || err != nil {
			t.Errorf("%d in flight, %v, want 0", n, err)
		}
	})
}

// deafAfter is a store that does what it is told, and whose answer is lost.
type deafAfter struct{ store.Store }

func (d deafAfter) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	err := d.Store.Take(ctx, op, checks)
	if op == store.Acquire {
		return errOutage
	}
	return err
}

// late is a store that a request reaches after its caller has given up.
type late struct{ store.Store }

func (l late) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if op != store.Acquire {
		return l.Store.Take(ctx, op, checks)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = l.Store.Take(context.Background(), op, checks) })
	return errOutage
}

// TestKeyedConcurrencyLosesNoPermit: a permit whose grant was not heard of is given
// back, even if it is granted after that.
func TestKeyedConcurrencyLosesNoPermit(t *testing.T) {
	for name, wrap := range map[string]func(store.Store) store.Store{
		"answer lost": func(s store.Store) store.Store { return deafAfter{s} },
		"late":        func(s store.Store) store.Store { return late{s} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem := memstore.New()
				if _, ok, err := sluice.NewKeyedConcurrency(1, wrap(mem), time.Hour).Allow(t.Context(), "k"); ok || !errors.Is(err, errOutage) {
					t.Fatalf("%v, %v", ok, err)
				}
				time.Sleep(2 * time.Second)
				p, ok, _ := sluice.NewKeyedConcurrency(1, mem, time.Hour).Allow(t.Context(), "k")
				if !ok {
					t.Fatal("nobody has the permit, and nobody can get it")
				}
				_ = p.Release(t.Context())
			})
		})
	}
}

// TestKeyedConcurrencyBlind: a store that decides by policy cannot say who is in
// flight.
func TestKeyedConcurrencyBlind(t *testing.T) {
	s := &outage{Store: memstore.New()}
	s.down.Store(true)
	f, err := failover.New(s, memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := sluice.NewKeyedConcurrency(1, f.WithPolicy(failover.Allow), time.Second)
	if _, err := c.InFlight(t.Context(), "k"); !errors.Is(err, sluice.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if _, err := sluice.NewKeyedConcurrency(1, s, time.Second).InFlight(t.Context(), "k"); !errors.Is(err, errOutage) {
		t.Errorf("error %v", err)
	}
}
