package sluice

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/store"
)

// Errors to match with errors.Is.
var (
	// ErrLimited is matched by the error of a Wait that was refused.
	ErrLimited = errors.New("sluice: limited")
	// ErrInvalidLimit is matched by every error about a limit that makes no sense.
	ErrInvalidLimit = errors.New("sluice: invalid limit")
	// ErrKey means an empty key or one of more than 1 KiB.
	ErrKey = store.ErrKey
	// ErrCost means a negative cost or one above 1e15.
	ErrCost = store.ErrCost
	// ErrSettled means that a reservation was settled before or has expired.
	ErrSettled = errors.New("sluice: reservation is settled or expired")
)

// LimitedError is the error of a Wait that was refused: the limit would not
// have let it through before the context ends, or ever.
type LimitedError struct {
	Key      string // empty for a Limiter, which has no keys
	Decision Decision
}

func (e *LimitedError) Error() string {
	var b strings.Builder
	b.WriteString("sluice: limited")
	if e.Key != "" {
		fmt.Fprintf(&b, ": key %.64q", e.Key)
	}
	fmt.Fprintf(&b, ": %s", e.Decision.Limit())
	switch e.Decision.Reason {
	case Never:
		b.WriteString(" can never admit this cost")
	case Banned:
		b.WriteString(" admits nothing")
	case Unavailable:
		b.WriteString(": denied because the store cannot be asked")
	default:
		fmt.Fprintf(&b, ": retry after %v", e.Decision.RetryAfter())
	}
	return b.String()
}

// Is makes errors.Is(err, ErrLimited) true.
func (e *LimitedError) Is(target error) bool { return target == ErrLimited }

// LimitError says what is wrong with a limit.
type LimitError struct {
	Limit  string // as it was written
	Field  string // which part of it
	Reason string // what is wrong with that
	Hint   string // what to write instead; may be empty
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("sluice: invalid limit %q: %s: %s", e.Limit, e.Field, e.Reason)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Is makes errors.Is(err, ErrInvalidLimit) true.
func (e *LimitError) Is(target error) bool { return target == ErrInvalidLimit }
