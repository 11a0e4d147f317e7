package sluice

import (
	"log/slog"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// LimiterOption sets up a [Limiter].
type LimiterOption interface{ applyLimiter(*wiring) }

// KeyedOption sets up a [Keyed].
type KeyedOption interface{ applyKeyed(*wiring) }

// Option sets up a [Limiter] or a [Keyed].
type Option interface {
	LimiterOption
	KeyedOption
}

// wiring is what options set.
type wiring struct {
	store    store.Store
	clock    func() time.Time
	coarse   *CoarseClock
	observer Observer
	logger   *slog.Logger
	limits   []Limit
}

type option func(*wiring)

func (o option) applyLimiter(w *wiring) { o(w) }
func (o option) applyKeyed(w *wiring)   { o(w) }

type keyedOption func(*wiring)

func (o keyedOption) applyKeyed(w *wiring) { o(w) }

// WithClock lets time come from now instead of the machine's monotonic clock:
// for tests and simulations. Waiting still takes real time.
func WithClock(now func() time.Time) Option {
	return option(func(w *wiring) { w.clock = now })
}

// WithCoarseClock lets time come from a clock that is read much faster and lags
// a little; see [NewCoarseClock].
func WithCoarseClock(c *CoarseClock) Option {
	return option(func(w *wiring) { w.coarse = c })
}

// WithObserver tells o of every decision.
func WithObserver(o Observer) Option {
	return option(func(w *wiring) { w.observer = o })
}

// WithStore keeps the state in s, which brings its own clock, instead of a
// store in this process that the Keyed makes for itself.
func WithStore(s store.Store) KeyedOption {
	return keyedOption(func(w *wiring) { w.store = s })
}

// WithLimits adds limits to the first one. A request has to pass all of them,
// and one that is denied by any spends nothing in the others.
func WithLimits(more ...Limit) KeyedOption {
	return keyedOption(func(w *wiring) { w.limits = append(w.limits, more...) })
}

// WithLogger sends warnings to l, at most one per second: that the store could
// not decide, or that it is full and forgets keys in use. Without it nothing is
// logged.
func WithLogger(l *slog.Logger) KeyedOption {
	return keyedOption(func(w *wiring) { w.logger = l })
}

// CoarseClock is a clock that is read in a nanosecond because a goroutine
// advances it. It may lag, so that a little less is let through, and never
// leads. One can serve any number of limiters.
type CoarseClock = clock.Coarse

// NewCoarseClock starts a coarse clock that advances every resolution. A
// millisecond is a good one. Stop ends its goroutine; limiters that still use
// it then read the exact time.
func NewCoarseClock(resolution time.Duration) *CoarseClock { return clock.NewCoarse(resolution) }

// source returns the clock that was asked for.
func (w *wiring) source() *clock.Clock {
	switch {
	case w.clock != nil:
		return clock.Func(w.clock)
	case w.coarse != nil:
		return w.coarse.Clock()
	}
	return clock.System()
}
