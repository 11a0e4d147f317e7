package redisstore

import "github.com/sluice-limiter/sluice/store"

// take carries out an operation: from memory if the server is known to deny it, else
// by send; and remembers or forgets what follows from the answer. now is the
// monotonic clock in µs. It reports whether it was from memory.
//
// A Reserve is always sent: it may repeat one that is open, which gets its first
// answer whatever is left. Permits are no budget that comes back with time.
func (d *denials) take(now func() int64, op store.Op, checks []store.Check, send func() error) (known bool, err error) {
	switch op {
	case store.Spend:
	case store.Lease:
		if len(checks) > 1 {
			return false, d.ask(now(), checks, send)
		}
		checks[0].Granted = 0
	case store.Reserve:
		return false, d.ask(now(), checks, send)
	case store.Acquire, store.Renew, store.Release:
		return false, send()
	default:
		err = send()
		for i := range checks { // even after an error: it may have been carried out
			d.drop(now(), checks[i].Key)
		}
		return false, err
	}
	sent := now()
	if d.answer(sent, checks) {
		return true, nil
	}
	return false, d.ask(sent, checks, send)
}

// ask sends a request, and remembers what was denied.
func (d *denials) ask(sent int64, checks []store.Check, send func() error) error {
	err := send()
	if err == nil {
		d.learn(sent, checks)
	}
	return err
}
