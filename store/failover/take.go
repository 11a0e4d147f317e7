package failover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Take implements [store.Store]. The store's policy is that of all checks.
func (s *Store) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	return s.take(ctx, op, checks, policies{all: s.policy})
}

// TakeEach is Take with a policy for every check, by its index: limits of several
// rules can stand in one call. While the main store is not asked, checks with Deny
// are denied, those with Allow pass if their limit could ever admit them, and those
// with Local are asked of the local store, all of them at once. It is still all or
// nothing: if a check is denied that is no shadow, nothing is spent.
func (s *Store) TakeEach(ctx context.Context, op store.Op, checks []store.Check, each []Policy) error {
	if len(each) != len(checks) {
		return fmt.Errorf("%w: %d for %d checks", ErrPolicies, len(each), len(checks))
	}
	return s.take(ctx, op, checks, policies{each: each})
}

func (c *core) take(ctx context.Context, op store.Op, checks []store.Check, by policies) error {
	switch {
	case len(checks) == 0:
		return nil
	case byMark(op) && slices.ContainsFunc(checks, func(c store.Check) bool { return c.Degraded }):
		return c.giveBack(ctx, op, checks, by)
	}
	return c.askOrDecide(ctx, op, checks, by)
}

// giveBack brings what is known by a mark to where it was taken: here, or there, or
// nowhere.
func (c *core) giveBack(ctx context.Context, op store.Op, checks []store.Check, by policies) error {
	for i := range checks {
		if checks[i].Blind {
			checks[i].Verdict = algo.Verdict{}
		}
	}
	ours, at := pick(checks, func(i int) bool { return checks[i].Degraded && !checks[i].Blind })
	theirs, behind := pick(checks, func(i int) bool { return !checks[i].Degraded })
	if len(ours) > 0 {
		if err := c.local.Take(ctx, op, ours); err != nil {
			return err
		}
		put(checks, ours, at)
	}
	if len(theirs) == 0 {
		return nil
	}
	err := c.askOrDecide(ctx, op, theirs, by.at(behind))
	put(checks, theirs, behind)
	return err
}

// askOrDecide asks the main store, and has the policies decide if it does not.
func (c *core) askOrDecide(ctx context.Context, op store.Op, checks []store.Check, by policies) error {
	if c.breaker.open.Load() {
		return c.decide(ctx, op, checks, by)
	}
	failed, err := c.ask(ctx, op, checks)
	switch {
	case failed:
		if !errors.Is(err, store.ErrState) && !c.failed.Load() {
			c.failed.Store(true)
		}
		return c.decide(ctx, op, checks, by)
	case err == nil:
		c.after(ctx, op, checks, by)
	}
	return err
}

// after does what remains when the main store has answered: it settles in the local
// store what is there, and keeps it warm.
func (c *core) after(ctx context.Context, op store.Op, checks []store.Check, by policies) {
	for i := range checks {
		if checks[i].Degraded { // of an earlier call
			checks[i].Degraded, checks[i].Blind = false, false
		}
	}
	switch op {
	case store.Reset:
		_ = c.local.Take(ctx, op, checks) // memory of ours; the main store has done it
	case store.Spend:
		c.warm(ctx, checks, by)
	case store.Commit, store.Renew, store.Release:
		c.settle(ctx, op, checks, by)
	}
}

// ask asks the main store. It reports whether that failed, so that the policy has
// to decide; if not, err is the caller's.
func (c *core) ask(ctx context.Context, op store.Op, checks []store.Check) (failed bool, err error) {
	d := &deadline{Context: ctx, clock: c.clock, after: c.deadline}
	if c.direct {
		err = c.main.Take(d, op, checks)
	} else {
		err = c.handOver(d, op, checks, c.most)
	}
	c.judge(ctx, d.end(), err, checks)
	return err != nil && !isFault(err) && !errors.Is(err, store.ErrFull) && ctx.Err() == nil, err
}

// judge tells the breaker what a call says of the main store.
func (c *core) judge(ctx context.Context, t timing, err error, checks []store.Check) {
	b := &c.breaker
	if t != unseen && !b.looks.Load() {
		b.looks.Store(true)
	}
	if errors.Is(err, store.ErrState) {
		b.blame(err)
	}
	switch {
	case t == late: // whatever the answer was
		c.fail(context.DeadlineExceeded, checks)
	case isFault(err):
	case answered(err):
		if b.heard(t) {
			b.succeed(c.clock.Now())
		}
		if c.failed.Load() && b.asked(t) {
			c.answers()
		}
	case t == hurried:
		if b.hurry() {
			c.fail(context.DeadlineExceeded, checks)
		}
	case ctx.Err() == nil:
		c.fail(err, checks)
	}
}

// answered tells what only a store says that is well, even if it refuses.
func answered(err error) bool {
	return err == nil || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrState)
}

// isFault tells the faults of the input, which may be found without the server.
func isFault(err error) bool {
	if err == nil {
		return false
	}
	for _, fault := range [...]error{store.ErrKey, store.ErrCost, store.ErrID, store.ErrOp, store.ErrTooMany} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// byMark tells the operations that know by a mark what they give back.
func byMark(op store.Op) bool { return op == store.Cancel || op == store.Return }

// maxRunning is how many calls to a store that ignores its context may be under
// way, those that nobody waits for any more included; and maxProbes how many more
// may be asking whether it is back.
const (
	maxRunning = 4096
	maxProbes  = 4096
)

// errBusy means that the main store hangs, and many calls with it.
var errBusy = errors.New("failover: too many calls to the store are under way")

// call is one that was handed over to a goroutine. It has its own checks: nobody
// may be waiting for it any more when it returns.
type call struct {
	checks []store.Check
	done   chan error
}

// handOver asks the main store in another goroutine and does not wait for longer
// than the deadline, whatever the store does. There may be as many such calls as
// most says.
func (c *core) handOver(d *deadline, op store.Op, checks []store.Check, most int64) error {
	if c.running.Add(1) > most {
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
