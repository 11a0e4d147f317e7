package failover

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// probePause is the mean time between two questions whether the store is back.
const probePause = 250 * time.Millisecond

// nobodys is a key that nobody uses: if it gets no answer, that is the store's fault.
var (
	nobodys      = store.Check{Key: "sluice probe", Spec: someLimit}
	someLimit, _ = algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1_000_000, Burst: 1})
)

// fail counts a failure of the main store. If that opens the breaker, it is asked
// in the background from now on.
func (c *core) fail(err error, checks []store.Check) {
	if !c.breaker.fail(c.clock.Now(), err) {
		return
	}
	failed := store.Check{Key: strings.Clone(checks[0].Key), Spec: checks[0].Spec}
	c.notify(Event{Open: true, Cause: err})
	if c.breaker.begin() { // the observer may have closed it
		go c.search(failed)
	}
}

// search asks the main store until it answers, and closes the breaker. What it does
// last nobody waits for: an observer may call Close.
func (c *core) search(failed store.Check) {
	if c.found(failed) {
		c.notify(Event{})
		c.breaker.open.Store(false)
	}
}

// found returns when the main store answers, or reports false when this one is
// closed. It asks for what failed, and by turns for something else: the fault may be
// that of one key.
func (c *core) found(failed store.Check) bool {
	defer c.breaker.work.Done()
	timer := time.NewTimer(pause())
	defer timer.Stop()
	for n := 0; ; n++ {
		select {
		case <-c.breaker.ctx.Done():
			return false
		case <-timer.C:
		}
		ask := failed
		if n%2 == 1 || failed.Spec.Kind == algo.Unlimited || failed.Spec.Kind == algo.Ban {
			ask = nobodys
		}
		if c.back(ask) {
			return true
		}
		timer.Reset(pause())
	}
}

// pause is different every time, so that a fleet does not ask all at once.
func pause() time.Duration { return probePause/2 + rand.N(probePause) }

// back reports whether the main store answers in time: by the given probe, or a
// peek.
func (c *core) back(ask store.Check) bool {
	d := &deadline{Context: c.breaker.ctx, clock: c.clock, after: c.deadline}
	op := store.Spend
	if ask.Spec.Kind == algo.Concurrency {
		op, ask.ID, ask.Hold = store.Acquire, "probe", 1
	}
	var err error
	if c.probe != nil {
		err = c.probe(d)
	} else {
		err = c.handOver(d, op, []store.Check{ask}, c.most+maxProbes)
	}
	return d.end() != late && answered(err)
}
