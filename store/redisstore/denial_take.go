package redisstore

import (
	"context"
	"sync"

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
// come back at that moment, and most likely there is something for one of them: so
// one asks, and the others wait for his answer, and for a few more: one may come a
// little early, one gets it, and the next one's denial is for all of them. Who knows
// no more by then asks as well.
func (d *denials) askInTurn(ctx context.Context, now func() int64, checks []store.Check, send func() error) (known bool, err error) {
	k, sent := d.key(checks[0].Key), now()
	for range turnsWaited {
		answered, first := d.turns.enter(k)
		if first {
			defer d.turns.leave(k)
			if err = d.ask(sent, checks, send); err == nil {
				d.reopen(sent, checks)
			}
			return false, err
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if sent = now(); d.answer(sent, checks) {
			return true, nil
		}
		if !d.stale(sent, checks) {
			break
		}
	}
	return false, d.ask(sent, checks, send)
}

// turnsWaited is for how many answers somebody waits who could ask himself.
const turnsWaited = 4

// turns are the keys that somebody asks about for all.
type turns struct {
	mu    sync.Mutex
	asked map[denialKey]chan struct{} // closed when there is an answer
}

// enter reports whether the caller is the one to ask; if not, whom to wait for.
func (t *turns) enter(k denialKey) (answered <-chan struct{}, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.asked[k]; ok {
		return c, false
	}
	if t.asked == nil {
		t.asked = make(map[denialKey]chan struct{})
	}
	t.asked[k] = make(chan struct{})
	return nil, true
}

func (t *turns) leave(k denialKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.asked[k])
	delete(t.asked, k)
}

// stale reports whether a denial that would have answered one of the checks has run
// out not long ago.
func (d *denials) stale(now int64, checks []store.Check) bool {
	for i := range checks {
		c := &checks[i]
		k := d.key(c.Key)
		if e, found := d.set(k).find(k, c.Spec); found && e.spec == c.Spec && c.Cost >= e.cost && c.MaxWait <= e.wait &&
			now >= e.until && now-e.until < d.maxAge {
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
