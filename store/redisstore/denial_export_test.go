package redisstore

import "github.com/sluice-limiter/sluice/store"

// The denial cache for tests outside of the package, which may use the suites.
type Denials = denials

var (
	NewDenials = newDenials
	DenialDrop = (*denials).drop
)

const (
	DenialEntries = denialEntries
	DenialMaxAge  = denialMaxAge
)

// DenialAnswer reports whether a Spend is answered.
func DenialAnswer(d *Denials, now int64, checks []store.Check) bool {
	return d.look(now, store.Spend, checks) == denied
}

// DenialLearn tells of a Spend that the server has answered.
func DenialLearn(d *Denials, sent int64, checks []store.Check) {
	d.note(sent, sent, store.Spend, checks, nil)
}

// DenialTake carries out an operation: from memory, or by send.
func DenialTake(d *Denials, now func() int64, op store.Op, checks []store.Check, send func() error) (known bool, err error) {
	sent := now()
	if d.look(sent, op, checks) == denied {
		return true, nil
	}
	err = send()
	d.note(sent, now(), op, checks, err)
	return false, err
}
