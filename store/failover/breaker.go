package failover

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// When the breaker opens: at least half of the calls failed since the first
// failure, and that is some time ago: so that one broken connection, with all that
// was under way on it, is not taken for a dead store. Two failures are enough if
// nobody asks more often. Failures that are rarer are forgotten after a second.
const (
	manyFailures = 5
	manyTime     = 100_000 // µs
	fewFailures  = 2
	fewTime      = 500_000   // µs
	forgetAfter  = 1_000_000 // µs
)

// probePause is the mean time between two questions whether the store is back.
const probePause = 250 * time.Millisecond

// breaker knows whether the main store is worth asking. While it is well, calls read
// two flags and write nothing.
type breaker struct {
	open    atomic.Bool
	suspect atomic.Bool // something failed lately: calls are counted
	opened  atomic.Int64

	mu       sync.Mutex // guards what follows
	since    int64      // the first failure that counts, µs
	last     int64      // the last one
	calls    int64      // that the store itself answered, or not, since then
	failures int64
	cause    error // the last failure
	closed   bool

	ctx  context.Context // ends with the store
	stop context.CancelFunc
	work sync.WaitGroup
}

func (b *breaker) init() { b.ctx, b.stop = context.WithCancel(context.Background()) }

// close ends probing, for good.
func (b *breaker) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.work.Wait()
	b.open.Store(false)
}

// fail counts a failure and reports whether it opened the breaker.
func (b *breaker) fail(now int64, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause = err; b.closed || b.open.Load() {
		return false
	}
	b.count(now)
	b.failures, b.last = b.failures+1, now
	if !b.dead(now - b.since) {
		return false
	}
	b.suspect.Store(false)
	b.open.Store(true)
	b.opened.Add(1)
	b.work.Add(1)
	return true
}

// dead reports whether the failures of some time are those of a dead store.
func (b *breaker) dead(age int64) bool {
	return 2*b.failures >= b.calls &&
		(b.failures >= manyFailures && age >= manyTime || b.failures >= fewFailures && age >= fewTime)
}

// succeed counts a call that the store answered.
func (b *breaker) succeed(now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.Load() {
		return
	}
	if b.count(now); now-b.last >= forgetAfter {
		b.suspect.Store(false)
	}
}

// count counts a call, from the first failure on, and from anew after a second in
// which most were answered.
func (b *breaker) count(now int64) {
	if !b.suspect.Load() || now-b.since >= forgetAfter && 2*b.failures < b.calls {
		b.suspect.Store(true)
		b.since, b.calls, b.failures = now, 0, 0
	}
	b.calls++
}

func (b *breaker) lastCause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}

// fail counts a failure of the main store. If that opens the breaker, it is asked
// in the background from now on.
func (c *core) fail(err error, checks []store.Check) {
	if !c.breaker.fail(c.clock.Now(), err) {
		return
	}
	c.notify(Event{Open: true, Cause: err})
	failed := store.Check{Key: strings.Clone(checks[0].Key), Spec: checks[0].Spec}
	go c.recover(failed)
}

// recover asks the main store until it answers, and closes the breaker.
func (c *core) recover(failed store.Check) {
	b := &c.breaker
	defer b.work.Done()
	timer := time.NewTimer(pause())
	defer timer.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-timer.C:
		}
		if c.back(failed) {
			c.notify(Event{})
			b.open.Store(false)
			return
		}
		timer.Reset(pause())
	}
}

// pause is different every time, so that a fleet does not ask all at once.
func pause() time.Duration { return probePause/2 + rand.N(probePause) }

// back reports whether the main store answers in time: by the given probe, or a
// peek at what failed last.
func (c *core) back(failed store.Check) bool {
	d := &deadline{Context: c.breaker.ctx, after: c.deadline}
	var err error
	switch {
	case c.probe != nil:
		err = c.probe(d)
	case failed.Spec.Kind == algo.Concurrency:
		failed.ID, failed.Hold = "probe", 1
		err = c.handOver(d, store.Acquire, []store.Check{failed})
	default:
		err = c.handOver(d, store.Spend, []store.Check{failed})
	}
	_, late := d.end()
	return err == nil && !late
}
