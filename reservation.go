package sluice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// InfDuration is the delay of a reservation that is not OK.
const InfDuration = time.Duration(math.MaxInt64)

// Reservation is a cost that was spent ahead: for a request that goes ahead
// after [Reservation.Delay], or as the estimate of one whose true cost is known
// only afterwards. Settle it once, with [Reservation.Commit] or
// [Reservation.Cancel]; left alone, the estimate stays spent.
type Reservation struct {
	// Decision tells whether the reservation was granted, and what is left.
	Decision
	ready   int64 // the instant at which the request may go ahead
	clock   *clock.Clock
	settled atomic.Bool
	settle  func(ctx context.Context, actual int64, waiting bool) error
}

// OK reports whether the reservation was granted. If not, nothing was spent.
func (r *Reservation) OK() bool { return r.Allowed }

// Delay returns how long to wait from now on, 0 if the request may go ahead, or
// [InfDuration] if the reservation is not OK.
func (r *Reservation) Delay() time.Duration {
	if !r.Allowed {
		return InfDuration
	}
	return r.delay(r.clock.Now())
}

// DelayFrom returns how long to wait from the time t on.
func (r *Reservation) DelayFrom(t time.Time) time.Duration {
	if !r.Allowed {
		return InfDuration
	}
	return r.delay(r.clock.At(t))
}

func (r *Reservation) delay(now int64) time.Duration {
	return time.Duration(max(0, r.ready-now)) * time.Microsecond
}

// Commit says what the request really took. What is less than reserved is given
// back, what is more becomes a debt that later requests pay. From a request that
// still waits something is given back only if nothing was booked after it. A
// second Commit or Cancel, or one after the reservation expired, changes nothing
// and returns [ErrSettled]. After any other error it may be tried again: the
// store settles a reservation once.
func (r *Reservation) Commit(ctx context.Context, actual int64) error {
	if actual < 0 || actual > maxCost {
		return fmt.Errorf("sluice: commit: cost %d: %w", actual, ErrCost)
	}
	if !r.Allowed || r.settled.Swap(true) {
		return ErrSettled
	}
	err := r.settle(ctx, actual, r.clock.Now() < r.ready)
	if err != nil && !errors.Is(err, ErrSettled) {
		r.settled.Store(false)
	}
	return err
}

// Cancel gives the reservation back, as far as it can. After Commit it does
// nothing.
func (r *Reservation) Cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.Commit(ctx, 0) // the estimate stays spent if the store cannot be reached
}
