package sluice

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// Limiter is one limit in this process, without keys. It has the methods of
// golang.org/x/time/rate's Limiter. Most callers want [Limiter.Allow] to drop
// what is too much, or [Limiter.Wait] to slow down.
//
// It is safe for concurrent use and needs no closing.
type Limiter struct {
	cell     *memstore.Cell
	plain    atomic.Bool // nothing but the cell has to be asked
	clock    *clock.Clock
	observer Observer
	plan     atomic.Pointer[Plan]
	mu       sync.Mutex // one change of the limit at a time
	queue    queue      // of those who wait for a limit that does not book
}

// NewLimiter returns a limiter that admits limit. It panics if the limit is
// invalid: check one that comes from outside with [Limit.Validate], or read it
// with [Parse].
func NewLimiter(limit Limit, opts ...LimiterOption) *Limiter {
	var w wiring
	for _, o := range opts {
		o.applyLimiter(&w)
	}
	l := &Limiter{clock: w.source(), observer: w.observer}
	p, err := compile([]Limit{limit}, l.clock.Now())
	if err != nil {
		panic(err)
	}
	l.cell = memstore.NewCell(p.specs[0], l.clock)
	l.plan.Store(p)
	l.plain.Store(l.isPlain(p))
	return l
}

// Allow reports whether a request may happen now, and counts it if so.
func (l *Limiter) Allow() bool {
	if l.plain.Load() {
		return l.cell.Allow()
	}
	return l.decide(nil, 1).Allowed
}

// AllowN reports whether n requests may happen at the time t, and counts them
// all if so, or none.
func (l *Limiter) AllowN(t time.Time, n int) bool {
	return l.decide(&t, int64(n)).Allowed
}

// Decide is Allow for any cost, with an answer that tells how much is left and
// how long to wait. Cost 0 peeks.
func (l *Limiter) Decide(cost int64) Decision { return l.decide(nil, cost) }

// Peek tells whether a request would be allowed, and counts nothing.
func (l *Limiter) Peek() Decision { return l.decide(nil, 0) }

func (l *Limiter) decide(t *time.Time, cost int64) Decision {
	d, _ := l.book(t, cost, 0)
	return d
}

// book asks for cost and accepts to wait for maxWait µs.
func (l *Limiter) book(t *time.Time, cost, maxWait int64) (Decision, memstore.Booking) {
	p := l.current(t)
	b := l.cell.Book(t, cost, maxWait)
	d := p.decisionOf(0, b.Spec, b.Verdict)
	if l.observer != nil {
		l.observer.Observe("", cost, d)
	}
	return d, b
}

// current returns the plan for the time t, or now if t is nil. A calendar that is
// nearly used up is laid out anew.
func (l *Limiter) current(t *time.Time) *Plan {
	p := l.plan.Load()
	if p.until == 0 {
		return p
	}
	now := l.instant(t)
	if !p.stale(now) {
		return p
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p == l.plan.Load() {
		if next, err := compile(p.limits, now); err == nil { // was fine before, so the zone must be gone
			l.use(next)
		}
	}
	return l.plan.Load()
}

// instant returns t, or now if t is nil, in µs.
func (l *Limiter) instant(t *time.Time) int64 {
	if t != nil {
		return l.clock.At(*t)
	}
	return l.clock.Now()
}

// Reserve books a request and tells how long to wait before it goes ahead.
// Unlike with Wait it is the caller who waits.
func (l *Limiter) Reserve() *Reservation { return l.reserve(nil, 1) }

// ReserveN books n requests at the time t.
func (l *Limiter) ReserveN(t time.Time, n int) *Reservation { return l.reserve(&t, int64(n)) }

func (l *Limiter) reserve(t *time.Time, cost int64) *Reservation {
	d, booked := l.book(t, cost, math.MaxInt64)
	r := &Reservation{Decision: d, ready: l.instant(t) + d.verdict.Wait, clock: l.clock}
	r.settle = func(_ context.Context, actual int64, waiting bool) error {
		l.cell.Settle(booked, cost-actual, waiting)
		return nil
	}
	return r
}

// Wait blocks until a request may happen, first come first served. It returns
// at once with a *[LimitedError] if that cannot be before the context's
// deadline, and with the context's error when that ends first; then the place
// is given back if nobody has booked after it.
func (l *Limiter) Wait(ctx context.Context) error { return l.wait(ctx, 1) }

// WaitN is Wait for n requests at once.
func (l *Limiter) WaitN(ctx context.Context, n int) error { return l.wait(ctx, int64(n)) }

func (l *Limiter) wait(ctx context.Context, cost int64) error {
	if cost < 0 || cost > maxCost {
		return fmt.Errorf("sluice: wait: cost %d: %w", cost, ErrCost)
	}
	var booked memstore.Booking
	p := l.plan.Load()
	return waiting{
		queue: &l.queue,
		books: p.books,
		never: p.never(cost),
		take: func(_ context.Context, maxWait int64) (d Decision, _ error) {
			d, booked = l.book(nil, cost, maxWait)
			return d, nil
		},
		cancel: func() { l.cell.Settle(booked, cost, true) },
	}.wait(ctx)
}

// Refund gives back what was spent for nothing: at most what still counts.
func (l *Limiter) Refund(cost int64) {
	if cost > 0 {
		l.cell.Refund(cost)
	}
}

// Reset forgets everything that was spent.
func (l *Limiter) Reset() { l.cell.Reset() }

// Limit returns the limit.
func (l *Limiter) Limit() Limit { return l.plan.Load().limits[0] }

// Burst returns the limit's burst, or its count if it has none.
func (l *Limiter) Burst() int {
	limit := l.Limit()
	if limit.Burst == 0 {
		limit.Burst = limit.Count
	}
	return int(min(limit.Burst, math.MaxInt))
}

// SetLimit changes the limit. What was spent stays spent, unless the algorithm
// or the period is another: then it starts fresh. An invalid limit is refused
// with a *[LimitError], and the old one goes on.
func (l *Limiter) SetLimit(limit Limit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.change(limit)
}

// change is SetLimit; l.mu is held.
func (l *Limiter) change(limit Limit) error {
	p, err := compile([]Limit{limit}, l.clock.Now())
	if err == nil {
		l.use(p)
	}
	return err
}

// use makes p the plan.
func (l *Limiter) use(p *Plan) {
	l.plain.Store(l.isPlain(p))
	l.plan.Store(p)
	l.cell.SetSpec(p.specs[0])
}

// isPlain reports whether nothing but the cell has to be asked about p.
func (l *Limiter) isPlain(p *Plan) bool { return l.observer == nil && p.until == 0 }

// SetBurst changes the limit's burst, which must be at least 1.
func (l *Limiter) SetBurst(burst int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.Limit().WithBurst(int64(burst))
	if burst == 0 { // would be the default
		return limit.fault("burst", "use 0/s to ban", "must be at least 1")
	}
	return l.change(limit)
}

// Tokens returns how much the limit would admit now.
func (l *Limiter) Tokens() float64 { return float64(l.decide(nil, 0).Remaining()) }

// TokensAt returns how much the limit would admit at the time t.
func (l *Limiter) TokensAt(t time.Time) float64 { return float64(l.decide(&t, 0).Remaining()) }
