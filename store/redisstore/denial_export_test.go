package redisstore

import "github.com/sluice-limiter/sluice/store"

// The denial cache for tests outside of the package, which may use the suites.
type Denials = denials

var (
	NewDenials   = newDenials
	DenialAnswer = (*denials).answer
	DenialLearn  = (*denials).learn
	DenialDrop   = (*denials).drop
)

const (
	DenialEntries = denialEntries
	DenialMaxAge  = denialMaxAge
)

// DenialTake is a function, so that it is seen that its arguments stay on the stack.
func DenialTake(d *Denials, now func() int64, op store.Op, checks []store.Check, send func() error) (bool, error) {
	return d.take(now, op, checks, send)
}
