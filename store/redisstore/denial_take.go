package redisstore

import (
	"slices"

	"github.com/sluice-limiter/sluice/store"
)

// look answers a request from memory if the server is known to deny it at this
// instant of the monotonic clock.
//
// A Reserve is always sent: it may repeat one that is open, which gets its first
// answer whatever is left. Permits are no budget that comes back with time.
func (d *denials) look(now int64, op store.Op, checks []store.Check) knowledge {
	switch {
	case op == store.Spend:
	case op == store.Lease && len(checks) == 1:
		checks[0].Granted = 0
	default:
		return unknown
	}
	return d.answer(now, checks)
}

// note remembers or forgets what follows from the end of a call that was sent at
// the given instant and ended now.
func (d *denials) note(sent, now int64, op store.Op, checks []store.Check, err error) {
	switch op {
	case store.Acquire, store.Renew, store.Release:
	case store.Spend, store.Lease, store.Reserve:
		if err == nil {
			spent := op == store.Spend && !slices.ContainsFunc(checks, func(c store.Check) bool { return c.Refuses() })
			d.learn(sent, spent, checks)
		}
	default:
		for i := range checks { // even after an error: it may have been carried out
			d.drop(now, checks[i].Key)
		}
	}
}
