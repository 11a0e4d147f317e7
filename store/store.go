// Package store says what a place that keeps the state of limits must do.
//
// There is one method. A [Store] takes a list of checks, which together are one
// decision, and answers each in place. Implementations stand in the packages
// below this one; storetest proves any of them.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-limiter/sluice/algo"
)

// Op is what a call does with its checks.
type Op uint8

const (
	// Spend takes every check's cost, or none of them if one is denied. Cost 0
	// peeks: it is decided with the others and spends nothing.
	Spend Op = iota
	// Reserve spends, and remembers the cost under the check's ID for Hold. An ID
	// counts per key and shape; while it is open, reserving it again is a
	// repetition: it gets the first answer and spends nothing.
	Reserve
	// Commit settles the reservation with the check's ID: Cost is what it really
	// took. What is less than reserved is given back, as far as this very spend
	// still counts; what is more becomes a debt. From a booking that is still
	// waiting something is given back only if nothing was booked after it. The verdict's Allowed tells whether there was anything to settle:
	// a second Commit, or one after the reservation expired, changes nothing.
	Commit
	// Refund gives the cost back: at most what is still counted.
	Refund
	// Reset forgets the key and its reservations.
	Reset
	// Cancel gives back a Spend that was told to wait, or one of the same call with a
	// MaxWait too, known by its Mark, if nothing was booked after it.
	Cancel
	// Lease takes ahead, for each check by itself, as much as it can get between
	// Cost and Want: it tries Want, then half of that, and at last Cost. Granted
	// tells how much it was; the verdict is that of the last try.
	Lease
	// Return gives back Cost of what one certain Lease took, known by its Now and
	// Mark: at most what of it still counts.
	Return
	// Acquire takes Cost permits of a concurrency limit for the owner ID, until
	// Hold is over, for all checks or for none. An owner that has some already gets
	// a new expiry and the new number of them. Cost 0 peeks.
	Acquire
	// Renew lets the owner's permits live for another Hold. The verdict's Allowed
	// tells whether it still had any.
	Renew
	// Release gives the owner's permits back. The verdict's Allowed tells whether
	// it still had any.
	Release
)

// Check is one limit asked about one key.
type Check struct {
	Key     string
	Spec    *algo.Spec
	Cost    int64
	MaxWait int64  // the longest wait that is accepted, µs: Spend and Reserve
	Want    int64  // the most that is taken: Lease
	ID      string // of the reservation or of the owner of permits
	Hold    int64  // how long a reservation or a permit is kept, µs

	Verdict  algo.Verdict // the answer
	Granted  int64        // how much a Lease took
	Now      int64        // when a Lease was decided, µs since 1970 by the store's clock; a remote store tells it always
	Mark     algo.Mark    // names a Lease, for Return, or an allowed Spend with a MaxWait, for Cancel
	Degraded bool         // decided without the store that should have
	Blind    bool         // and without any other, by a policy: the verdict says nothing of the limit

	// Shadow is set by the caller: the check is decided with the others, and charged
	// only if every check that is not shadow allows and it itself does. It never
	// denies another. Shadow checks stand after all that are not. It means something
	// to Spend, Reserve and Acquire; what was not charged is not there to be settled.
	Shadow bool
}

// Refuses reports whether the check keeps its call from being carried out: it denies,
// and is no shadow.
func (c *Check) Refuses() bool { return !c.Verdict.Allowed && !c.Shadow }

// Store keeps the state of limits.
//
// Take carries out op for all checks at one instant of the store's own clock,
// as if nothing else happened in between. For Spend, Reserve and Acquire it is all
// or nothing: unless every verdict allows, nothing is spent anywhere, and each
// verdict tells what its limit by itself would have said. Checks of the same key
// and the same shape ([algo.Spec.Shape]) share a state and are decided one after
// the other.
//
// Verdicts of shadow checks (Check.Shadow) do not count among those that must allow.
// If all others do, each shadow check that allows is spent too; if not, none is. A
// call of nothing but shadow checks decides each by itself.
//
// An error means that it could not be decided; nothing was spent as far as the
// store can tell. Faults of the input are reported as [ErrKey], [ErrCost],
// [ErrID], [ErrOp] or [ErrTooMany] and are found before anything is done.
// Implementations are safe for concurrent use and keep no reference to checks
// after returning.
type Store interface {
	Take(ctx context.Context, op Op, checks []Check) error
}

// Prompt is a store that may be able to tell that it returns when the context of a call
// ends, whatever becomes of the server that it asks. Such a store needs nobody who
// watches over the time: see [HonorsContext].
type Prompt interface {
	Store
	HonorsContext() bool
}

// HonorsContext reports whether s says of itself that it returns when the context of a
// call ends.
func HonorsContext(s Store) bool {
	p, ok := s.(Prompt)
	return ok && p.HonorsContext()
}

// MaxKey is the longest key in bytes.
const MaxKey = 1024

// MaxHold is the longest time in µs that a reservation is kept.
const MaxHold = algo.MaxAhead

// Faults of the input, which are never a reason to let a request pass.
var (
	ErrKey     = errors.New("key must be 1 to 1024 bytes long")
	ErrCost    = errors.New("cost must be 0 to 1e15")
	ErrID      = errors.New("reservation or permit needs an ID of 1 to 1024 bytes and a hold time of 1µs to 366 days")
	ErrOp      = errors.New("operation not supported by this store, or not for this kind of limit")
	ErrTooMany = errors.New("too many checks in one call")
)

// What a store that is well may answer besides.
var (
	// ErrFull is how a store with bounded memory refuses a reservation.
	ErrFull = errors.New("no memory left for another reservation")
	// ErrState means that what is kept for one key cannot be read. It says nothing
	// of the store or of other keys.
	ErrState = errors.New("value of this key cannot be read")
)

// TryLease carries out a [Lease] of one check: spend decides it as a Spend of its
// Cost, which is Want at first, then less and less. What it tries and does not get
// is denied, and a denial changes nothing.
func TryLease(c *Check, spend func()) {
	cost := c.Cost
	for c.Granted = c.Want; ; c.Granted = max(cost, c.Granted/2) {
		c.Cost = c.Granted
		spend()
		if c.Verdict.Allowed || c.Granted == cost {
			break
		}
	}
	if c.Cost = cost; !c.Verdict.Allowed {
		c.Granted = 0
	}
}

// Validate reports the first fault of the input.
func Validate(op Op, checks []Check) error {
	if op > Release {
		return fmt.Errorf("store: operation %d: %w", op, ErrOp)
	}
	i := 0
	for op == Spend && i < len(checks) && checks[i].plain() {
		i++
	}
	for ; i < len(checks); i++ {
		c := &checks[i]
		if len(c.Key) == 0 || len(c.Key) > MaxKey {
			return fmt.Errorf("store: check %d: key of %d bytes: %w", i, len(c.Key), ErrKey)
		}
		if c.Cost < 0 || c.Cost > algo.MaxCount {
			return fmt.Errorf("store: check %d: cost %d: %w", i, c.Cost, ErrCost)
		}
		if op == Lease && (c.Cost < 1 || c.Want < c.Cost || c.Want > algo.MaxCount) {
			return fmt.Errorf("store: check %d: lease of %d to %d: %w", i, c.Cost, c.Want, ErrCost)
		}
		if op.named() && (len(c.ID) == 0 || len(c.ID) > MaxKey || op.holds() && (c.Hold < 1 || c.Hold > MaxHold)) {
			return fmt.Errorf("store: check %d: %w", i, ErrID)
		}
		if permits := c.Spec.Kind == algo.Concurrency; permits != (op >= Acquire) && op != Reset {
			return fmt.Errorf("store: check %d: operation %d: %w", i, op, ErrOp)
		}
		if i > 0 && checks[i-1].Shadow && !c.Shadow && op.shadows() {
			return fmt.Errorf("store: check %d: a check that is not shadow stands after one that is: %w", i, ErrOp)
		}
	}
	return nil
}

// plain recognizes most checks of a Spend that have no fault, with few questions.
func (c *Check) plain() bool {
	return uint(len(c.Key)-1) < MaxKey && uint64(c.Cost) <= algo.MaxCount && c.Spec.Kind != algo.Concurrency && !c.Shadow
}

// shadows tells those that spare what a shadow check denies to the others.
func (op Op) shadows() bool { return op == Spend || op == Reserve || op == Acquire }

// named tells the operations that need an ID.
func (op Op) named() bool { return op == Reserve || op == Commit || op >= Acquire }

// holds tells those that need a Hold.
func (op Op) holds() bool { return op == Reserve || op == Acquire || op == Renew }
