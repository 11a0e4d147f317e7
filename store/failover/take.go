package failover

import (
	"context"
	"errors"

	"github.com/sluice-limiter/sluice/store"
)

// Take implements [store.Store].
func (s *Store) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	switch {
	case len(checks) == 0:
		return nil
	case byMark(op) && checks[0].Degraded && s.policy == Local: // it was taken locally
		return s.local.Take(ctx, op, checks)
	case s.breaker.open.Load():
		return s.decide(ctx, op, checks)
	}
	failed, err := s.ask(ctx, op, checks)
	switch {
	case failed:
		return s.decide(ctx, op, checks)
	case err == nil:
		s.after(ctx, op, checks)
	}
	return err
}

// ask asks the main store. It reports whether that failed, so that the policy has
// to decide; if not, err is the caller's.
func (c *core) ask(ctx context.Context, op store.Op, checks []store.Check) (failed bool, err error) {
	d := &deadline{Context: ctx, after: c.deadline}
	if c.direct {
		err = c.main.Take(d, op, checks)
	} else {
		err = c.handOver(d, op, checks)
	}
	looked, late := d.end()
	if late {
		c.fail(context.DeadlineExceeded, checks)
	}
	switch {
	case err == nil, errors.Is(err, store.ErrFull):
		if looked && !late && c.breaker.suspect.Load() {
			c.breaker.succeed(c.clock.Now())
		}
		return false, err
	case isFault(err), ctx.Err() != nil:
		return false, err
	case !late:
		c.fail(err, checks)
	}
	return true, err
}

// isFault tells the faults of the input, which may be found without the server.
func isFault(err error) bool {
	for _, fault := range [...]error{store.ErrKey, store.ErrCost, store.ErrID, store.ErrOp} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// byMark tells the operations that know by a mark what they give back.
func byMark(op store.Op) bool { return op == store.Cancel || op == store.Return }

// byName tells those that know it by its ID.
func byName(op store.Op) bool {
	return op == store.Commit || op == store.Renew || op == store.Release
}

// after does what remains when the main store has answered: it looks in the local
// store for what the main one does not know, and keeps it warm.
func (s *Store) after(ctx context.Context, op store.Op, checks []store.Check) {
	for i := range checks {
		if checks[i].Degraded { // of an earlier call
			checks[i].Degraded, checks[i].Blind = false, false
		}
	}
	switch {
	case op == store.Reset:
		_ = s.local.Take(ctx, op, checks) // memory of ours; the main store has done it
	case byName(op) && s.strayed.Load():
		for i := range checks {
			if s.stray(ctx, op, &checks[i]) {
				checks[i].Degraded = true
			}
		}
	}
	s.warm(ctx, op, checks)
}

// stray settles in the local store what the main one does not know.
func (c *core) stray(ctx context.Context, op store.Op, check *store.Check) bool {
	if check.Verdict.Allowed {
		return false
	}
	one := []store.Check{*check}
	if err := c.local.Take(ctx, op, one); err != nil || !one[0].Verdict.Allowed {
		return false
	}
	*check = one[0]
	return true
}

// maxRunning is how many calls to a store that ignores its context may be under
// way, those that nobody waits for any more included.
const maxRunning = 4096

// errBusy means that the main store hangs, and many calls with it.
var errBusy = errors.New("failover: too many calls to the store are under way")

// call is one that was handed over to a goroutine. It has its own checks: nobody
// may be waiting for it any more when it returns.
type call struct {
	checks []store.Check
	done   chan error
}

// handOver asks the main store in another goroutine and does not wait for longer
// than the deadline, whatever the store does.
func (c *core) handOver(d *deadline, op store.Op, checks []store.Check) error {
	if c.running.Add(1) > maxRunning {
		c.running.Add(-1)
		return errBusy
	}
	one := c.calls.Get().(*call)
	one.checks = append(one.checks[:0], checks...)
	go func() {
		err := c.main.Take(d, op, one.checks)
		c.running.Add(-1)
		one.done <- err
	}()
	select {
	case err := <-one.done:
		copy(checks, one.checks)
		clear(one.checks)
		c.calls.Put(one)
		return err
	case <-d.Done():
		return d.Err()
	}
}
