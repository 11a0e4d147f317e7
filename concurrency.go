package sluice

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// Concurrency admits a number of requests at the same time, in this process. Who
// is let in holds a [Permit] and gives it back when done.
type Concurrency struct {
	expiry time.Duration

	mu      sync.Mutex // guards what follows
	limit   int64
	used    int64
	waiting list.List // of *waiter, first come first served
}

type waiter struct {
	cost  int64
	ready chan *Permit // gets nil if the limit fell below the cost
}

// ConcurrencyOption sets up a [Concurrency].
type ConcurrencyOption func(*Concurrency)

// WithExpiry takes a permit back after d if it is neither released nor renewed
// by then, so that a holder that is stuck does not keep it for ever. 0 or less
// means never.
func WithExpiry(d time.Duration) ConcurrencyOption {
	return func(c *Concurrency) { c.expiry = d }
}

// NewConcurrency returns a limit of n in flight. It panics if n is below 1.
func NewConcurrency(n int64, opts ...ConcurrencyOption) *Concurrency {
	if n < 1 {
		panic(fmt.Sprintf("sluice: NewConcurrency: %d in flight: must be at least 1", n))
	}
	c := &Concurrency{limit: n}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Permit is the right to be in flight. Release it when done.
type Permit struct {
	c     *Concurrency
	cost  int64
	timer *time.Timer // nil without expiry
	done  bool        // given or taken back; guarded by c.mu
}

// Allow returns a permit if one is free and nobody is waiting.
func (c *Concurrency) Allow() (*Permit, bool) { return c.AllowN(1) }

// AllowN returns a permit that counts for cost, which must be at least 1.
func (c *Concurrency) AllowN(cost int64) (*Permit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cost < 1 || c.waiting.Len() > 0 || cost > c.limit-c.used {
		return nil, false
	}
	return c.grant(cost), true
}

// grant makes a permit; c.mu is held.
func (c *Concurrency) grant(cost int64) *Permit {
	c.used += cost
	p := &Permit{c: c, cost: cost}
	if c.expiry > 0 {
		p.timer = time.AfterFunc(c.expiry, p.Release)
	}
	return p
}

// Wait returns a permit as soon as there is one, first come first served, or the
// context's error.
func (c *Concurrency) Wait(ctx context.Context) (*Permit, error) { return c.WaitN(ctx, 1) }

// WaitN is Wait for a permit that counts for cost. A cost above the limit gets
// an error that matches [ErrLimited].
func (c *Concurrency) WaitN(ctx context.Context, cost int64) (*Permit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cost < 1 {
		return nil, fmt.Errorf("sluice: concurrency: cost %d: must be at least 1: %w", cost, ErrCost)
	}
	c.mu.Lock()
	if cost > c.limit {
		defer c.mu.Unlock()
		return nil, tooMuch(cost, c.limit)
	}
	if c.waiting.Len() == 0 && cost <= c.limit-c.used {
		defer c.mu.Unlock()
		return c.grant(cost), nil
	}
	w := &waiter{cost, make(chan *Permit, 1)}
	place := c.waiting.PushBack(w)
	c.mu.Unlock()
	select {
	case p := <-w.ready:
		if p == nil {
			return nil, tooMuch(cost, c.Limit())
		}
		return p, nil
	case <-ctx.Done():
		c.abandon(place, w)
		return nil, ctx.Err()
	}
}

func tooMuch(cost, limit int64) error {
	return fmt.Errorf("sluice: concurrency: cost %d is above the limit of %d: %w", cost, limit, ErrLimited)
}

// abandon leaves the queue; a permit that came at the same moment goes on.
func (c *Concurrency) abandon(place *list.Element, w *waiter) {
	c.mu.Lock()
	c.waiting.Remove(place)
	c.serve()
	c.mu.Unlock()
	select {
	case p := <-w.ready:
		if p != nil {
			p.Release()
		}
	default:
	}
}

// serve lets in as many of the first as fit; c.mu is held.
func (c *Concurrency) serve() {
	for e := c.waiting.Front(); e != nil; e = c.waiting.Front() {
		w := e.Value.(*waiter)
		if w.cost > c.limit-c.used {
			return
		}
		c.waiting.Remove(e)
		w.ready <- c.grant(w.cost)
	}
}

// Release gives the permit back. Releasing it again does nothing.
func (p *Permit) Release() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.c.used -= p.cost
	p.c.serve()
}

// Renew lets the expiry start again. It reports false if the permit has been
// taken back already, or never expires.
func (p *Permit) Renew() bool {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.timer == nil || !p.timer.Stop() {
		return false // if it has fired, Release is on its way
	}
	p.timer.Reset(p.c.expiry)
	return true
}

// InFlight returns how much is in flight.
func (c *Concurrency) InFlight() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Limit returns how much may be in flight.
func (c *Concurrency) Limit() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// SetLimit changes how much may be in flight. Below what is in flight already,
// nobody is let in until enough is released. Who waits for more than n gets an
// error that matches [ErrLimited]. It refuses n below 1.
func (c *Concurrency) SetLimit(n int64) error {
	if n < 1 {
		return fmt.Errorf("sluice: concurrency: %d in flight: must be at least 1: %w", n, ErrInvalidLimit)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = n
	for e := c.waiting.Front(); e != nil; {
		w, next := e.Value.(*waiter), e.Next()
		if w.cost > n { // would hold up all behind it for ever
			c.waiting.Remove(e)
			w.ready <- nil
		}
		e = next
	}
	c.serve()
	return nil
}
