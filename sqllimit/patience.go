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

// none reports whether the statement must not wait.
func (p *patience) none() bool { return p.max <= 0 }

// bounded returns the context to wait with.
func (p *patience) bounded() context.Context {
	if p.ctx == nil {
		p.ctx, p.cancel = context.WithTimeout(p.parent, p.max)
		p.since = system.Now()
	}
	return p.ctx
}

// end frees the context.
func (p *patience) end() {
	if p.cancel != nil {
		p.cancel()
	}
}

// refusal turns the error of a limit into what the caller gets, and ends the wait.
func (p *patience) refusal(class Class, inFlight bool, err error) error {
	defer p.end()
	refused := &LimitedError{Class: class, InFlight: inFlight}
	if p.ctx != nil {
		refused.Waited = time.Duration(system.Now()-p.since) * time.Microsecond
	}
	var decided *sluice.LimitedError
	switch parent := p.parent.Err(); {
	case errors.As(err, &decided):
		refused.Err = decided
	case errors.Is(parent, context.Canceled):
		return parent
	case parent != nil: // its deadline
		refused.Err = parent
	case errors.Is(err, sluice.ErrLimited) || p.ctx != nil && p.ctx.Err() != nil:
		// The limits are full, and MaxWait is over.
	default:
		return fmt.Errorf("sqllimit: the limit could not decide: %w", err)
	}
	return refused
}
