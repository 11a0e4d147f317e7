package httplimit

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Wait holds a request for up to longest instead of refusing it at once; it leaves when
// the client does. At a leaky bucket requests always wait, as long as its queue and its
// MaxWait allow, with Wait not longer than that; but not if another limit beside it, such
// as a window, takes no bookings.
//
// For a [Transport], which waits as long as the request's context allows, it is how
// long it waits at most; 0 means never.
func Wait(longest time.Duration) WaitOption { return waitOption(longest) }

// WaitOption sets up [ByIP], [Middleware] and [Transport].
type WaitOption interface {
	KeyedOption
	TransportOption
}

type waitOption time.Duration

func (o waitOption) applyKeyed(c *config) { c.wait = time.Duration(o) }

// bounds are how long and how many requests wait for limits.
type bounds struct {
	books   bool          // the limits tell everybody a time; else requests of a key queue
	longest time.Duration // how long a request waits; 0: not at all
	perKey  int64         // how much cost of one key may wait
}

// newBounds returns the bounds for limits, if Wait says asked, or for 0 what their
// leaky buckets say.
func newBounds(plan *sluice.Plan, asked time.Duration) bounds {
	b := bounds{books: plan.Books(), longest: asked, perKey: math.MaxInt64}
	if asked <= 0 && b.books {
		b.longest = queueTime(plan.Limits())
	}
	if !b.books { // limits that book refuse by themselves whom they cannot admit in time
		limits := plan.Limits()
		for _, l := range limits {
			b.perKey = min(b.perKey, admitted(l, b.longest, len(limits) == 1))
		}
	}
	return b
}

// queueTime returns how long one can wait in the queues of leaky buckets: 0 if there is
// none.
func queueTime(limits []sluice.Limit) (longest time.Duration) {
	for _, l := range limits {
		if l.Algorithm != sluice.LeakyBucket || l.Count <= 0 {
			continue
		}
		full := float64(l.Period) * float64(l.Burst+1) / float64(l.Count) // one more, since time passes before it is asked
		longest = max(longest, time.Duration(min(full, math.MaxInt64/2)))
	}
	return longest
}

// admitted returns how much a limit admits at most within d. If it is the only one, it
// is used up to begin with.
func admitted(l sluice.Limit, d time.Duration, only bool) int64 {
	period := l.Period
	switch l.Calendar {
	case sluice.Day:
		period = 23 * time.Hour // the shortest
	case sluice.Month:
		period = 28 * 24 * time.Hour
	}
	if period <= 0 || l.Count <= 0 {
		return math.MaxInt64 // what admits everything or nothing keeps nobody waiting
	}
	windows := int64((d-1)/period) + 1
	if !only {
		windows++
	}
	if hi, lo := bits.Mul64(uint64(l.Count), uint64(windows)); hi == 0 && lo < math.MaxInt64/2 {
		return int64(lo) + l.Burst // which buckets have
	}
	return math.MaxInt64
}

// errLate means that a request has to be refused since its turn does not come in time.
var errLate = errors.New("httplimit: the turn does not come in time")

// wait turns the denial d into an allowance if that takes no longer than it may.
func (k *keys) wait(ctx context.Context, key string, cost int64, d *sluice.Decision) error {
	b := &k.of(d).bounds
	if b.longest <= 0 || k.config.wait <= 0 && d.Limit().Algorithm != sluice.LeakyBucket || d.RetryAfter() > b.longest {
		return nil
	}
	return conclude(d, k.hold(ctx, key, cost, b))
}

// join is for a request of a key in whose queue others stand. To ask for something
// before them would not be fair: it stands behind them, and looks afterwards what there
// is to tell.
func (k *keys) join(ctx context.Context, key string, cost int64, d *sluice.Decision) error {
	is := k.known.Load()
	if is == nil || cost <= 0 || cost > is.bounds.perKey { // too much, whoever stands there
		var err error
		*d, err = k.keyed.AllowN(ctx, key, cost)
		return err
	}
	waited := k.hold(ctx, key, cost, &is.bounds)
	if waited == nil || errors.Is(waited, errLate) {
		if now, err := k.keyed.Peek(ctx, key); err == nil {
			*d = now
		}
	}
	return conclude(d, waited)
}

// hold waits for the limits, within bounds.
func (k *keys) hold(ctx context.Context, key string, cost int64, b *bounds) error {
	if !k.waiters.join(key, cost, b.perKey, !b.books) {
		return errLate
	}
	defer k.waiters.part(key, cost, !b.books)
	limited, cancel := context.WithTimeout(ctx, b.longest)
	defer cancel()
	err := k.keyed.WaitN(limited, key, cost)
	if errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil && ctx.Err() == nil {
		return errLate // it is our own deadline, and not that of a store
	}
	return err
}

// conclude puts into d, which speaks of the limit, what came of a wait.
func conclude(d *sluice.Decision, err error) error {
	var refused *sluice.LimitedError
	switch {
	case err == nil:
		d.Allowed, d.Reason = true, 0
	case errors.Is(err, errLate):
		d.Allowed, d.Reason = false, sluice.Limited
	case errors.As(err, &refused):
		*d = refused.Decision
	default:
		return err
	}
	return nil
}
