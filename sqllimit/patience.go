package sqllimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/internal/clock"
)

// patience is how long one statement may wait for all its limits together. Its
// context is made only when there is something to wait for.
type patience struct {
	parent context.Context
	max    time.Duration

	ctx    context.Context
	cancel context.CancelFunc
	since  int64 // when ctx was made, µs
}

var system = clock.System()

// askTime is how long a statement that must not wait lets a store think.
const askTime = 250 * time.Millisecond

// none reports whether the statement must not wait.
func (p *patience) none() bool { return p.max <= 0 }

// bounded returns the context to wait with, or to ask a store with.
func (p *patience) bounded() context.Context {
	if p.ctx == nil {
		most := p.max
		if p.none() {
			most = askTime
		}
		p.ctx, p.cancel = context.WithTimeout(p.parent, most)
		p.since = system.Now()
	}
	return p.ctx
}

// left returns how long it may wait from now.
func (p *patience) left() time.Duration {
	deadline, _ := p.bounded().Deadline()
	return time.Until(deadline)
}

// end frees the context.
func (p *patience) end() {
	if p.cancel != nil {
		p.cancel()
	}
}

// refusal turns the error of a limit into what the caller gets. Only a denial, and
// the end of a wait, mean limited. A limit returns the context's error as it is when
// a wait ends; the error of a store, also of one that took too long, is wrapped.
func (p *patience) refusal(class Class, inFlight bool, err error) error {
	refused := &LimitedError{Class: class, InFlight: inFlight}
	if p.ctx != nil && !p.none() {
		refused.Waited = time.Duration(system.Now()-p.since) * time.Microsecond
	}
	var decided *sluice.LimitedError
	switch parent := p.parent.Err(); {
	case errors.As(err, &decided):
		refused.Err = decided
	case errors.Is(parent, context.Canceled):
		return parent
	case p.ctx != nil && err == p.ctx.Err():
		refused.Err = parent // its deadline; else MaxWait is over
	case errors.Is(err, sluice.ErrLimited):
	default:
		return fmt.Errorf("sqllimit: the limit could not decide: %w", err)
	}
	return refused
}
