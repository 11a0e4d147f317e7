package redisstore

import (
	"context"

	"github.com/sluice-limiter/sluice/store"
)

// take carries out an operation: from memory if the server is known to deny it, else
// by send; and remembers or forgets what follows from the answer. now is the
// monotonic clock in µs. It reports whether it was from memory.
//
// A Reserve is always sent: it may repeat one that is open, which gets its first
// answer whatever is left. Permits are no budget that comes back with time.
func (d *denials) take(ctx context.Context, now func() int64, op store.Op, checks []store.Check, send func() error) (known bool, err error) {
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
	switch {
	case d.answer(sent, checks):
		return true, nil
	case d.stale(sent, checks):
		return d.askInTurn(ctx, now, checks, send)
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

// askInTurn asks about a key whose denial has just run out. All who were denied
// come back at that moment; most likely there is something for one of them, so
// they go one after the other, until the server denies again or has enough for
// more.
func (d *denials) askInTurn(ctx context.Context, now func() int64, checks []store.Check, send func() error) (known bool, err error) {
	gate := d.gates[d.key(checks[0].Key).hi%uint64(len(d.gates))]
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	sent := now()
	if d.answer(sent, checks) {
		<-gate
		return true, nil
	}
	if !d.stale(sent, checks) {
		<-gate
		return false, d.ask(sent, checks, send)
	}
	defer func() { <-gate }()
	if err = d.ask(sent, checks, send); err == nil {
		d.reopen(sent, checks)
	}
	return false, err
}

// stale reports whether a denial of one of the checks has run out not long ago.
func (d *denials) stale(now int64, checks []store.Check) bool {
	for i := range checks {
		c := &checks[i]
		k := d.key(c.Key)
		if e, found := d.set(k).find(k, c.Spec); found && e.spec == c.Spec && now >= e.until && now-e.until < d.maxAge {
			return true
		}
	}
	return false
}

// reopen forgets the keys that have enough for others.
func (d *denials) reopen(now int64, checks []store.Check) {
	for i := range checks {
		if c := &checks[i]; c.Verdict.Allowed && c.Spec.Remaining(c.Verdict) >= max(1, c.Cost) {
			d.dropKey(now-1, d.key(c.Key))
		}
	}
}
