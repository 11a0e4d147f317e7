package sluice

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// waiting is one call of Wait.
type waiting struct {
	key    string
	queue  *queue  // to wait in if the limit does not book, or
	queues *queues // that of the key
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
	d, err := w.take(ctx, clock.Patience(ctx))
	if err != nil {
		return err
	}
	if !d.Allowed && d.Reason == Limited && !d.spec.Books() {
		return w.ask(ctx) // the limit changed this moment
	}
	if !d.Allowed {
		return &LimitedError{Key: w.key, Decision: d}
	}
	if err := clock.Sleep(ctx, d.Wait()); err != nil {
		w.cancel()
		return err
	}
	return nil
}

// ask asks at once if nobody waits, and queues if it must.
func (w waiting) ask(ctx context.Context) error {
	if !w.never && w.busy() {
		return w.queued(ctx, 0)
	}
	d, err := w.take(ctx, 0)
	if err != nil || d.Allowed {
		return err
	}
	if w.hopeless(ctx, d) {
		return &LimitedError{Key: w.key, Decision: d}
	}
	return w.queued(ctx, d.RetryAfter())
}

// queued waits for its turn and then asks until it is let through; nobody behind it
// asks meanwhile. If the turn comes at once it sleeps for pause first, for it has
// just been denied.
func (w waiting) queued(ctx context.Context, pause time.Duration) error {
	q, part := w.join()
	defer part()
	waited, err := q.enter(ctx)
	if err != nil {
		return err
	}
	defer q.leave()
	if waited {
		pause = 0
	}
	for denied := pause > 0; ; denied = true {
		if denied {
			q.narrow()
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
		d, err := w.take(ctx, 0)
		switch {
		case err != nil && denied && ctx.Err() != nil:
			return ctx.Err() // the wait is over, whatever became of the last question
		case err != nil:
			return err
		case d.Allowed:
			if !denied {
				q.widen()
			}
			return nil
		case w.hopeless(ctx, d):
			return &LimitedError{Key: w.key, Decision: d}
		}
		pause = d.RetryAfter()
	}
}

// hopeless reports whether the denial will outlast the context.
func (w waiting) hopeless(ctx context.Context, d Decision) bool {
	return d.Reason != Limited || d.RetryAfter().Microseconds() > clock.Patience(ctx)
}

// busy reports whether somebody waits already.
func (w waiting) busy() bool {
	if w.queues != nil {
		return w.queues.busy(w.key)
	}
	return w.queue.busy()
}

// join returns the queue to wait in, and how to part from it.
func (w waiting) join() (*queue, func()) {
	if w.queues == nil {
		return w.queue, func() {}
	}
	return w.queues.join(w.key), func() { w.queues.part(w.key) }
}
