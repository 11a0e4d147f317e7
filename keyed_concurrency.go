package sluice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// KeyedConcurrency admits a number of requests at the same time per key, over all
// processes that share its store. Every permit has an expiry and is renewed
// while it is held, so that a process that dies never keeps one for long.
type KeyedConcurrency struct {
	store  store.Store
	clock  *clock.Clock
	spec   *algo.Spec
	expiry time.Duration
	queues queues
}

// NewKeyedConcurrency returns a limit of n in flight per key. A permit that is
// not renewed is free again after expiry: 30 seconds are a good choice. It panics
// if n is below 1 or expiry below a millisecond.
func NewKeyedConcurrency(n int64, s store.Store, expiry time.Duration) *KeyedConcurrency {
	spec, err := algo.Compile(algo.Spec{Kind: algo.Concurrency, Count: n})
	if err != nil {
		panic(fmt.Sprintf("sluice: NewKeyedConcurrency: %d in flight: must be 1 to 1e15", n))
	}
	if expiry < time.Millisecond || expiry.Microseconds() > store.MaxHold {
		panic(fmt.Sprintf("sluice: NewKeyedConcurrency: expiry of %v: must be 1ms to 366 days", expiry))
	}
	c := &KeyedConcurrency{store: s, clock: clock.System(), spec: spec, expiry: expiry}
	_, local := s.(*memstore.Store)
	c.queues.remote = !local
	return c
}

// Allow returns a permit for key if one is free. A denial is no error.
func (c *KeyedConcurrency) Allow(ctx context.Context, key string) (*KeyedPermit, bool, error) {
	return c.AllowN(ctx, key, 1)
}

// AllowN returns a permit that counts for cost, which must be at least 1.
func (c *KeyedConcurrency) AllowN(ctx context.Context, key string, cost int64) (*KeyedPermit, bool, error) {
	p, v, err := c.acquire(ctx, key, cost)
	return p, err == nil && v.Allowed, err
}

func (c *KeyedConcurrency) acquire(ctx context.Context, key string, cost int64) (*KeyedPermit, algo.Verdict, error) {
	if cost < 1 {
		return nil, algo.Verdict{}, fmt.Errorf("sluice: concurrency: cost %d: must be at least 1: %w", cost, ErrCost)
	}
	p := &KeyedPermit{c: c, check: store.Check{
		Key: key, Spec: c.spec, Cost: cost, ID: rand.Text(), Hold: c.expiry.Microseconds(),
	}}
	sent := p.c.clock.Now()
	v, err := p.take(ctx, store.Acquire)
	if err != nil {
		p.abandon(ctx)
	}
	if err != nil || !v.Allowed {
		return nil, v, err
	}
	p.start(sent)
	return p, v, nil
}

// Wait returns a permit for key as soon as there is one, or the context's error.
// While permits are free nobody queues; in this process those who wait are served
// in the order in which they came, before all who come later.
func (c *KeyedConcurrency) Wait(ctx context.Context, key string) (*KeyedPermit, error) {
	return c.WaitN(ctx, key, 1)
}

// WaitN is Wait for a permit that counts for cost. A cost above the limit gets an
// error that matches [ErrLimited].
func (c *KeyedConcurrency) WaitN(ctx context.Context, key string, cost int64) (*KeyedPermit, error) {
	if cost > c.spec.Count {
		return nil, tooMuch(cost, c.spec.Count)
	}
	if c.queues.busy(key) {
		return c.queued(ctx, key, cost, 0)
	}
	p, v, err := c.acquire(ctx, key, cost)
	if err != nil || v.Allowed {
		return p, err
	}
	return c.queued(ctx, key, cost, c.pause(v, firstPause))
}

// queued waits for its turn and then asks until there is a permit. If the turn
// comes at once it sleeps for pause first, for it has just been denied.
func (c *KeyedConcurrency) queued(ctx context.Context, key string, cost int64, pause time.Duration) (*KeyedPermit, error) {
	q := c.queues.join(key)
	defer c.queues.part(key)
	waited, err := q.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer q.leave()
	if waited {
		pause = 0
	}
	next := firstPause
	for denied := pause > 0; ; denied = true {
		if denied {
			q.narrow()
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		p, v, err := c.acquire(ctx, key, cost)
		switch {
		case err != nil && denied && ctx.Err() != nil:
			return nil, ctx.Err() // the wait is over, whatever became of the last question
		case err != nil:
			return nil, err
		case v.Allowed:
			if !denied {
				q.widen()
			}
			return p, nil
		}
		pause = c.pause(v, next)
		next = min(2*next, longestPause)
	}
}

// pause returns how long to sleep after a denial. Nobody tells when another process
// releases a permit: ask, seldom, and soon when one expires. What this instance may
// never admit by itself, while it goes on with its share, is possible again later.
func (c *KeyedConcurrency) pause(v algo.Verdict, usual time.Duration) time.Duration {
	if retry := time.Duration(c.spec.RetryAfter(v)) * time.Microsecond; retry > 0 {
		return min(usual, max(retry, firstPause))
	}
	return usual
}

const (
	firstPause   = 2 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// InFlight returns how much is in flight for key.
func (c *KeyedConcurrency) InFlight(ctx context.Context, key string) (int64, error) {
	checks := []store.Check{{Key: key, Spec: c.spec, ID: "peek", Hold: 1}}
	if err := c.store.Take(ctx, store.Acquire, checks); err != nil {
		return 0, fmt.Errorf("sluice: %w", err)
	}
	if checks[0].Blind {
		return 0, fmt.Errorf("sluice: in flight: %w", ErrUnavailable)
	}
	return c.spec.Count - c.spec.Remaining(checks[0].Verdict), nil
}

// ErrUnavailable means that the store could not be asked.
var ErrUnavailable = errors.New("the store cannot be asked")

// KeyedPermit is the right to be in flight. Release it when done.
type KeyedPermit struct {
	c     *KeyedConcurrency
	check store.Check
	lost  chan struct{}

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	until int64 // the expiry by the clock of this process, µs
	done  bool  // released or lost
}

func (p *KeyedPermit) take(ctx context.Context, op store.Op) (algo.Verdict, error) {
	checks := []store.Check{p.check}
	if err := p.c.store.Take(ctx, op, checks); err != nil {
		return algo.Verdict{}, fmt.Errorf("sluice: %w", err)
	}
	return checks[0].Verdict, nil
}

// abandon releases a permit that the store may have granted without our hearing of
// it; else nobody would have it until it expires. It does so at once and once more: a
// question on a connection that was given up may reach the server after the first release.
func (p *KeyedPermit) abandon(ctx context.Context) {
	release := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonAgain)
		defer cancel()
		_, _ = p.take(ctx, store.Release)
	}
	go release()
	time.AfterFunc(abandonAgain, release)
}

const abandonAgain = time.Second

// start lets the permit be renewed at a third of its expiry.
func (p *KeyedPermit) start(sent int64) {
	p.lost, p.until = make(chan struct{}), sent+p.check.Hold
	p.mu.Lock()
	p.timer = time.AfterFunc(p.c.expiry/3, p.renew)
	p.mu.Unlock()
}

// renew goes on until the permit is released, or is lost: because the store has
// given it to others, or could not be asked for as long as it lives.
func (p *KeyedPermit) renew() {
	p.mu.Lock()
	done, timeout := p.done, min(p.c.expiry/3, p.left())
	p.mu.Unlock()
	if done {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	sent := p.c.clock.Now()
	v, err := p.take(ctx, store.Renew)
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.c.expiry / 9 // after a failure
	switch {
	case p.done:
		return
	case err == nil && v.Allowed:
		p.until, next = sent+p.check.Hold, p.c.expiry/3
	case err == nil || p.left() <= 0:
		p.done = true
		close(p.lost)
		return
	}
	p.timer.Reset(min(next, p.left()))
}

// left returns how long the permit lives without being renewed.
func (p *KeyedPermit) left() time.Duration {
	return time.Duration(p.until-p.c.clock.Now()) * time.Microsecond
}

// Lost is closed when the permit could not be renewed in time, so that others may
// have it now. It stays open after Release.
func (p *KeyedPermit) Lost() <-chan struct{} { return p.lost }

// Release gives the permit back. If the store cannot be reached it is free after
// its expiry. Releasing it again, or after it was lost, does nothing.
func (p *KeyedPermit) Release(ctx context.Context) error {
	p.mu.Lock()
	if p.done {
		p.mu.Unlock()
		return nil
	}
	p.done = true
	p.timer.Stop()
	p.mu.Unlock()
	_, err := p.take(ctx, store.Release)
	return err
}
