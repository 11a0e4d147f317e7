package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// crowd is many callers that ask for one key over and over, through a cache and a
// slow way to its state.
type crowd struct {
	denials *denials
	spec    *algo.Spec
	start   time.Time

	mu    sync.Mutex
	state algo.State
	calls int
	given int
}

func newCrowd(t *testing.T, def algo.Spec) *crowd {
	t.Helper()
	spec, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return &crowd{denials: newDenials(16, time.Second), spec: spec, start: time.Now()}
}

func (c *crowd) now() int64 { return time.Since(c.start).Microseconds() }

func (c *crowd) ask(ctx context.Context) (bool, error) {
	checks := []store.Check{{Key: "hot", Spec: c.spec, Cost: 1}}
	_, err := c.denials.take(ctx, c.now, store.Spend, checks, func() error {
		time.Sleep(100 * time.Microsecond)
		c.mu.Lock()
		c.calls++
		checks[0].Verdict = algo.Decide(c.spec, &c.state, time.Now().UnixMicro(), 1, 0)
		c.mu.Unlock()
		time.Sleep(100 * time.Microsecond)
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if checks[0].Verdict.Allowed {
		c.given++
	}
	return checks[0].Verdict.Allowed, err
}

// TestDeniedComeBackInTurn: when a token comes, not all who wait for it ask: one
// gets it, one is denied, and the others are told.
func TestDeniedComeBackInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := c.ask(ctx); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					time.Sleep(200 * time.Microsecond)
				}
			})
		}
		all.Wait()
		if c.given < 90 || c.given > 101 {
			t.Errorf("%d admitted in a second at 100/s", c.given)
		}
		if c.calls > 3*c.given+32 {
			t.Errorf("%d calls for %d tokens", c.calls, c.given)
		}
	})
}

// TestPlentyIsNotQueuedFor: when there is enough again, those who were denied do
// not go one after the other.
func TestPlentyIsNotQueuedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, algo.Spec{Kind: algo.FixedWindow, Count: 1000, Period: 500_000})
		for range 1000 {
			_, _ = c.ask(t.Context())
		}
		if ok, _ := c.ask(t.Context()); ok {
			t.Fatal("the window is not used up")
		}
		time.Sleep(500 * time.Millisecond)
		before, begin := c.given, time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { _, _ = c.ask(t.Context()) })
		}
		all.Wait()
		if took := time.Since(begin); took > 2*time.Millisecond || c.given != before+100 {
			t.Errorf("%d admitted in %v", c.given-before, took)
		}
	})
}

// TestTurnsEndWithTheContext: who waits for his turn leaves when his context ends.
func TestTurnsEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 1})
		_, _ = c.ask(t.Context())
		_, _ = c.ask(t.Context())
		time.Sleep(100 * time.Millisecond)
		c.denials.turns.enter(c.denials.key("hot")) // somebody asks, and hangs
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := c.ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 50*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		c.denials.turns.leave(c.denials.key("hot"))
		if ok, err := c.ask(t.Context()); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
}

// TestTurnsDoNotSlowDown: a limit that refills as fast as it is asked, and never
// holds enough for two, is not asked one at a time.
func TestTurnsDoNotSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, algo.Spec{Kind: algo.TokenBucket, Count: 5000, Period: 1e6, Burst: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		longest := time.Duration(0)
		for range 40 {
			all.Go(func() {
				for ctx.Err() == nil {
					begin := time.Now()
					_, _ = c.ask(ctx)
					c.mu.Lock()
					longest = max(longest, time.Since(begin))
					c.mu.Unlock()
					time.Sleep(50 * time.Microsecond)
				}
			})
		}
		all.Wait()
		if longest > (turnsWaited+1)*210*time.Microsecond { // calls of others, and one's own
			t.Errorf("an answer took %v, a call takes 200µs", longest)
		}
	})
}

// TestOnlyTheDeniedTakeTurns: who asks for less than was denied, or has more
// patience, goes at once.
func TestOnlyTheDeniedTakeTurns(t *testing.T) {
	spec := testBucket
	d := newDenials(8, time.Second)
	denied := store.Check{Key: "k", Spec: spec, Cost: 2, Verdict: algo.Check(spec, &algo.State{T: 20_000_000}, 10_000_000, 2, 0)}
	d.learn(1, []store.Check{denied})
	for _, c := range []struct {
		check store.Check
		want  bool
	}{
		{store.Check{Key: "k", Spec: spec, Cost: 2}, true},
		{store.Check{Key: "k", Spec: spec, Cost: 1}, false},
		{store.Check{Key: "k", Spec: spec}, false},
		{store.Check{Key: "k", Spec: spec, Cost: 2, MaxWait: 1}, false},
		{store.Check{Key: "l", Spec: spec, Cost: 2}, false},
	} {
		if got := d.stale(1_500_000, []store.Check{c.check}); got != c.want {
			t.Errorf("%+v: takes turns: %v, want %v", c.check, got, c.want)
		}
	}
}
