package sluice

import (
	"context"
	"math"
	"sync"
	"time"
)

// waiting is one call of Wait.
type waiting struct {
	key    string
	queue  *queue
	books  bool
	never  bool // the limit that does not book can never admit it
	take   func(ctx context.Context, maxWait int64) (Decision, error)
	cancel func() // gives back what take booked last
}

func (w waiting) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.books {
		return w.book(ctx)
	}
	return w.ask(ctx)
}

// book takes a place in the future and waits for it.
func (w waiting) book(ctx context.Context) error {
	d, err := w.take(ctx, patience(ctx))
	if err != nil {
		return err
	}
	if !d.Allowed && d.Reason == Limited && !d.spec.Books() {
		return w.ask(ctx) // the limit changed this moment
	}
	if !d.Allowed {
		return &LimitedError{Key: w.key, Decision: d}
	}
	if err := sleep(ctx, d.Wait()); err != nil {
		w.cancel()
		return err
	}
	return nil
}

// ask waits for its turn and then asks until it is let through. Nobody behind
// it asks meanwhile, save one that has nothing to wait for.
func (w waiting) ask(ctx context.Context) error {
	if !w.never {
		if err := w.queue.enter(ctx); err != nil {
			return err
		}
		defer w.queue.leave()
	}
	for {
		d, err := w.take(ctx, 0)
		if err != nil || d.Allowed {
			return err
		}
		retry := d.RetryAfter()
		if d.Reason != Limited || retry.Microseconds() > patience(ctx) {
			return &LimitedError{Key: w.key, Decision: d}
		}
		if err := sleep(ctx, retry); err != nil {
			return err
		}
	}
}

// patience returns how long the context lets us wait, in µs.
func patience(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return math.MaxInt64
	}
	return max(0, time.Until(deadline).Microseconds())
}

// sleep waits for d or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queue lets one in after the other, first come first served. Its zero value is
// ready to use.
type queue struct {
	mu      sync.Mutex
	inside  bool
	waiting []chan struct{}
}

// enter returns when it is the caller's turn.
func (q *queue) enter(ctx context.Context) error {
	q.mu.Lock()
	if !q.inside {
		q.inside = true
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		q.abandon(turn)
		return ctx.Err()
	}
}

// abandon leaves the queue. If the turn had just come, the next one gets it.
func (q *queue) abandon(turn chan struct{}) {
	q.mu.Lock()
	for i, w := range q.waiting {
		if w == turn {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.mu.Unlock()
			return
		}
	}
	q.mu.Unlock()
	q.leave()
}

// leave gives the turn to the next.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.inside, q.waiting = false, nil
		return
	}
	close(q.waiting[0])
	q.waiting = q.waiting[1:]
}
