package failover_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
)

const second = 1_000_000

// errReset is what a broken connection gives.
var errReset = errors.New("connection reset")

// shaky is a store that can be broken in several ways.
type shaky struct {
	store.Store
	calls   atomic.Int64
	mu      sync.Mutex
	err     error
	delay   time.Duration // honours its context
	hanging chan struct{} // does not
}

func (s *shaky) set(err error, delay time.Duration, hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.delay = err, delay
	if s.hanging != nil {
		close(s.hanging)
		s.hanging = nil
	}
	if hang {
		s.hanging = make(chan struct{})
	}
}

func (s *shaky) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	s.calls.Add(1)
	s.mu.Lock()
	err, delay, hanging := s.err, s.delay, s.hanging
	s.mu.Unlock()
	if hanging != nil {
		<-hanging
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return s.Store.Take(ctx, op, checks)
}

// world is a failover before a shaky store.
type world struct {
	t      testing.TB
	main   *shaky
	local  *memstore.Store
	store  *failover.Store
	mu     sync.Mutex
	events []failover.Event
}

func newWorld(t testing.TB, opts ...failover.Option) *world {
	t.Helper()
	w := &world{t: t, main: &shaky{Store: memstore.New()}, local: memstore.New()}
	observe := failover.WithObserver(func(e failover.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	})
	s, err := failover.New(w.main, w.local, append(opts, observe)...)
	if err != nil {
		t.Fatal(err)
	}
	w.store = s
	return w
}

// take makes a call with one check and returns it with its answer.
func (w *world) take(s store.Store, op store.Op, c store.Check) store.Check {
	w.t.Helper()
	checks := []store.Check{c}
	if err := s.Take(w.t.Context(), op, checks); err != nil {
		w.t.Fatal(err)
	}
	return checks[0]
}

// spend asks for a cost of 1.
func (w *world) spend(s store.Store) store.Check {
	w.t.Helper()
	return w.take(s, store.Spend, store.Check{Key: "ann", Spec: ten, Cost: 1})
}

// open breaks the store and waits until the breaker is open.
func (w *world) open() {
	w.t.Helper()
	w.main.set(errReset, 0, false)
	for range 100 {
		w.spend(w.store)
		if w.store.Stats().Open {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("the breaker does not open")
}

// heal mends the store and waits until the breaker is closed.
func (w *world) heal() {
	w.t.Helper()
	w.main.set(nil, 0, false)
	for range 100 {
		if !w.store.Stats().Open {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("the breaker does not close")
}

// ten is a bucket of ten that hardly fills up again.
var ten = must(algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600 * second, Burst: 10}))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
