package sqllimit

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// LimitedError is the error of a statement that was refused and never reached
// the database. It matches [sluice.ErrLimited].
type LimitedError struct {
	Class    Class         // of the statement; Free for a transaction that was to begin
	InFlight bool          // at the end there was no permit; else the rate was used up
	Waited   time.Duration // how long it waited; 0 if it was not to wait

	// Err tells more: a *[sluice.LimitedError] with the decision of the rate, or
	// the error of a context whose deadline passed. It may be nil.
	Err error
}

func (e *LimitedError) Error() string {
	var b strings.Builder
	b.WriteString("sqllimit: limited: ")
	if e.InFlight {
		b.WriteString("too much in flight")
	} else {
		b.WriteString("too many statements")
	}
	if e.Waited > 0 {
		fmt.Fprintf(&b, " for %v", e.Waited)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Is makes errors.Is(err, sluice.ErrLimited) true.
func (e *LimitedError) Is(target error) bool { return target == sluice.ErrLimited }

// Unwrap returns Err.
func (e *LimitedError) Unwrap() error { return e.Err }
