package sluice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

const maxCost = algo.MaxCount

// Keyed gives every key its own budget under the same limits: per user, per
// address, per anything that is a string. Idle keys cost nothing for long, and
// the memory of a full store stays bounded.
//
// It is safe for concurrent use and needs no closing.
type Keyed struct {
	plan     atomic.Pointer[Plan]
	store    store.Store
	mem      *memstore.Store // the store, if it is in this process
	clock    *clock.Clock
	observer Observer
	logger   *slog.Logger
	logged   atomic.Int64
	mu       sync.Mutex // one change of the limits at a time
	queues   queues
}

// NewKeyed returns limits per key: limit, and those of [WithLimits]. Unless
// [WithStore] gives another place, the keys live in this process, in at most
// [memstore.DefaultMaxBytes]. It panics if a limit is invalid, as [NewLimiter]
// does, or if WithStore is combined with a clock, which the store has itself.
func NewKeyed(limit Limit, opts ...KeyedOption) *Keyed {
	w := wiring{limits: []Limit{limit}}
	for _, o := range opts {
		o.applyKeyed(&w)
	}
	if w.store != nil && (w.clock != nil || w.coarse != nil) {
		panic("sluice: NewKeyed: WithStore cannot be combined with a clock: give the clock to the store")
	}
	if mem, ok := w.store.(*memstore.Store); ok {
		w.clock = mem.Now // calendars go by the time of the store
	}
	k := &Keyed{store: w.store, clock: w.source(), observer: w.observer, logger: w.logger}
	p, err := compile(w.limits, k.clock.Now())
	if err != nil {
		panic(err)
	}
	k.plan.Store(p)
	if k.store == nil {
		k.store = memstore.New(w.storeOptions()...)
	}
	k.mem, _ = k.store.(*memstore.Store)
	k.queues.remote = k.mem == nil
	return k
}

func (w *wiring) storeOptions() []memstore.Option {
	var opts []memstore.Option
	if w.clock != nil {
		opts = append(opts, memstore.WithClock(w.clock))
	} else if w.coarse != nil {
		opts = append(opts, memstore.WithCoarseClock(w.coarse))
	}
	if w.logger != nil {
		opts = append(opts, memstore.WithLogger(w.logger))
	}
	return opts
}

// Allow decides a request of cost 1 for key. A denial is no error: an error
// means that it could not be decided.
func (k *Keyed) Allow(ctx context.Context, key string) (Decision, error) {
	return k.AllowN(ctx, key, 1)
}

// AllowN decides a request of any cost. Cost 0 peeks.
func (k *Keyed) AllowN(ctx context.Context, key string, cost int64) (d Decision, err error) {
	p := k.current()
	if k.mem == nil || len(p.specs) != 1 || len(key) == 0 || len(key) > store.MaxKey || cost < 0 || cost > maxCost {
		return k.allowAll(ctx, p, key, cost)
	}
	d.plan, d.spec = p, p.specs[0]
	k.mem.TakeOne(key, d.spec, cost, &d.verdict)
	d.conclude()
	if k.observer != nil {
		k.observer.Observe(key, cost, d)
	}
	return d, nil
}

// Peek tells whether a request for key would be allowed, and spends nothing.
func (k *Keyed) Peek(ctx context.Context, key string) (Decision, error) {
	return k.AllowN(ctx, key, 0)
}

// allowAll decides with memory that is used again and again.
func (k *Keyed) allowAll(ctx context.Context, p *Plan, key string, cost int64) (Decision, error) {
	checks := checkPool.Get().(*[]store.Check)
	defer checkPool.Put(checks)
	*checks = p.checks((*checks)[:0], key, cost)
	return k.take(ctx, p, *checks, store.Spend)
}

var checkPool = sync.Pool{New: func() any { return new([]store.Check) }}

// take asks the store about all limits of the plan at once.
func (k *Keyed) take(ctx context.Context, p *Plan, checks []store.Check, op store.Op) (Decision, error) {
	if err := k.do(ctx, op, checks); err != nil {
		return Decision{}, err
	}
	var d Decision
	p.Decide(checks, &d)
	if k.observer != nil {
		k.observer.Observe(checks[0].Key, checks[0].Cost, d)
	}
	return d, nil
}

func (k *Keyed) do(ctx context.Context, op store.Op, checks []store.Check) error {
	err := k.store.Take(ctx, op, checks)
	if err == nil {
		return nil
	}
	if !errors.Is(err, ErrKey) && !errors.Is(err, ErrCost) { // those are the caller's
		k.warn(err)
	}
	return fmt.Errorf("sluice: %w", err)
}

// warn tells the log, at most once a second, that the store failed.
func (k *Keyed) warn(err error) {
	if k.logger == nil {
		return
	}
	now, last := k.clock.Now(), k.logged.Load()
	if (last == 0 || now-last >= 1e6) && k.logged.CompareAndSwap(last, now) {
		k.logger.Warn("sluice: store could not decide", "error", err)
	}
}

// checks appends one for every limit of the plan.
func (p *Plan) checks(to []store.Check, key string, cost int64) []store.Check {
	for _, spec := range p.specs {
		to = append(to, store.Check{Key: key, Spec: spec, Cost: cost})
	}
	return to
}

// sum adds what the checks after the first one say: a denial speaks of the limit that
// takes longest, an allowance of the one with least left, and of the longest wait.
func (p *Plan) sum(best *Decision, checks []store.Check) {
	wait, degraded, blind := best.verdict.Wait, best.Degraded, best.Blind
	for i := 1; i < len(checks); i++ {
		d := p.decision(i, checks[i].Verdict)
		wait = max(wait, d.verdict.Wait)
		degraded, blind = degraded || checks[i].Degraded, blind || checks[i].Blind
		if d.Binds(*best) {
			*best = d
		}
	}
	if best.Degraded, best.Blind = degraded, blind; best.Allowed {
		best.verdict.Wait = wait
	}
}

// Binds reports whether d matters more than o: which of two answers to the same
// request to tell.
func (d Decision) Binds(o Decision) bool {
	switch {
	case d.Allowed != o.Allowed:
		return o.Allowed
	case d.Allowed:
		return d.Remaining() < o.Remaining()
	case (d.Reason == Limited) != (o.Reason == Limited):
		return o.Reason == Limited
	}
	return d.RetryAfter() > o.RetryAfter()
}

// current returns the plan. A calendar that is nearly used up is laid out anew.
func (k *Keyed) current() *Plan {
	if p := k.plan.Load(); p.until == 0 {
		return p
	}
	return k.calendar()
}

func (k *Keyed) calendar() *Plan {
	p := k.plan.Load()
	now := k.clock.Now()
	if !p.stale(now) {
		return p
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == k.plan.Load() {
		if next, err := compile(p.limits, now); err == nil { // was fine before, so the zone must be gone
			k.plan.Store(next)
		}
	}
	return k.plan.Load()
}

// Limits returns the limits.
func (k *Keyed) Limits() []Limit { return append([]Limit(nil), k.plan.Load().limits...) }

// SetLimit changes the limits of all keys. What was spent stays spent, unless
// the algorithm or the period is another: then that limit starts fresh. An
// invalid limit is refused with a *[LimitError], and the old ones go on.
func (k *Keyed) SetLimit(limit Limit, more ...Limit) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, err := compile(append([]Limit{limit}, more...), k.clock.Now())
	if err == nil {
		k.plan.Store(p)
	}
	return err
}

// Reset forgets everything that key spent.
func (k *Keyed) Reset(ctx context.Context, key string) error {
	return k.do(ctx, store.Reset, k.current().checks(nil, key, 0))
}

// Refund gives back what key spent for nothing: at most what still counts.
func (k *Keyed) Refund(ctx context.Context, key string, cost int64) error {
	return k.do(ctx, store.Refund, k.current().checks(nil, key, cost))
}

// Wait blocks until a request for key may happen. It returns at once with a
// *[LimitedError] if that cannot be before the context's deadline, and with the
// context's error when that ends first; then the place is given back if nobody
// has booked after it.
//
// In this process it is first come, first served. A limit that takes no bookings,
// such as a window, has a queue per key, which nobody joins before a denial: while
// there is enough, all ask at the same time. Who comes while somebody waits stands
// behind. Only those whose questions are under way to a remote store at the same
// moment may be answered in another order.
func (k *Keyed) Wait(ctx context.Context, key string) error { return k.WaitN(ctx, key, 1) }

// WaitN is Wait for any cost.
func (k *Keyed) WaitN(ctx context.Context, key string, cost int64) error {
	p := k.current()
	checks := p.checks(nil, key, cost)
	w := waiting{key: key, queues: &k.queues, books: p.books, never: p.never(cost)}
	w.take = func(ctx context.Context, maxWait int64) (Decision, error) {
		if next := k.current(); !w.books && next != p { // the limits changed while it waited
			p, checks = next, next.checks(checks[:0], key, cost)
		}
		for i := range checks {
			checks[i].MaxWait = maxWait
		}
		return k.take(ctx, p, checks, store.Spend)
	}
	w.cancel = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = k.do(ctx, store.Cancel, checks) // the place stays taken if the store cannot be reached
	}
	return w.wait(ctx)
}

// Hold is how long a reservation of [Keyed.Reserve] can be settled.
const Hold = time.Hour

// Reserve spends cost for key ahead of a request: one that goes ahead after
// [Reservation.Delay], or whose true cost is known only afterwards. It can be
// settled for [Hold]; after that the estimate stays spent.
func (k *Keyed) Reserve(ctx context.Context, key string, cost int64) (*Reservation, error) {
	p := k.current()
	id := rand.Text()
	checks := p.checks(nil, key, cost)
	for i := range checks {
		checks[i].ID, checks[i].Hold = id, Hold.Microseconds()
		if p.books {
			checks[i].MaxWait = algo.MaxAhead
		}
	}
	d, err := k.take(ctx, p, checks, store.Reserve)
	if err != nil {
		return nil, err
	}
	r := &Reservation{Decision: d, ready: k.clock.Now() + d.verdict.Wait, clock: k.clock}
	r.settle = func(ctx context.Context, actual int64, _ bool) error {
		for i := range checks {
			checks[i].Cost = actual
		}
		if err := k.do(ctx, store.Commit, checks); err != nil {
			return err
		}
		if !checks[0].Verdict.Allowed {
			return ErrSettled
		}
		return nil
	}
	return r, nil
}
