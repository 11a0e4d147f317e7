package failover

import (
	"context"
	"sync"
	"sync/atomic"
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

// manyHurried is how many callers in a hurry must get no answer, one after the
// other, before the store is blamed for the next of them.
const manyHurried = 5

// breaker knows whether the main store is worth asking. While it is well, calls read
// a few flags and write nothing.
type breaker struct {
	open    atomic.Bool
	suspect atomic.Bool  // something failed lately: calls are counted
	looks   atomic.Bool  // the store has looked at a context: an answer without that is none of the server's
	hurried atomic.Int64 // callers in a hurry since the last answer
	opened  atomic.Int64

	mu       sync.Mutex // guards what follows
	since    int64      // the first failure that counts, µs
	last     int64      // the last one
	calls    int64      // that the store itself answered, or not, since then
	failures int64
	cause    error // why something was last decided without the store
	closed   bool

	ctx  context.Context // ends with the store
	stop context.CancelFunc
	work sync.WaitGroup
}

func (b *breaker) init() { b.ctx, b.stop = context.WithCancel(context.Background()) }

// shut ends probing, for good.
func (b *breaker) shut() {
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
	b.hurried.Store(0)
	b.open.Store(true)
	b.opened.Add(1)
	return true
}

// dead reports whether the failures of some time are those of a dead store.
func (b *breaker) dead(age int64) bool {
	return 2*b.failures >= b.calls &&
		(b.failures >= manyFailures && age >= manyTime || b.failures >= fewFailures && age >= fewTime)
}

// hurry notes that a caller in a hurry got no answer, and reports whether that says
// something of the store: it does if nobody else got one lately.
func (b *breaker) hurry() bool { return b.hurried.Add(1) > manyHurried }

// heard reports whether an answer has to be counted.
func (b *breaker) heard(t timing) bool {
	return (b.suspect.Load() || b.hurried.Load() > 0) && b.asked(t)
}

// asked reports whether an answer is the server's. One for which a store that looks at
// the time did not, came from memory and says nothing.
func (b *breaker) asked(t timing) bool { return t != unseen || !b.looks.Load() }

// succeed counts a call that the store answered.
func (b *breaker) succeed(now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hurried.Store(0)
	if b.open.Load() || !b.suspect.Load() {
		return
	}
	if b.count(now); now-b.last >= forgetAfter {
		b.suspect.Store(false)
	}
}

// count counts a call, from the first failure on, and from anew after a second
// without a failure, or in which most were answered.
func (b *breaker) count(now int64) {
	if !b.suspect.Load() || now-b.last >= forgetAfter || now-b.since >= forgetAfter && 2*b.failures < b.calls {
		b.suspect.Store(true)
		b.since, b.calls, b.failures = now, 0, 0
	}
	b.calls++
}

// begin reports whether the search for the store may begin: not if it was closed
// meanwhile.
func (b *breaker) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.work.Add(1)
	return true
}

// blame remembers why something is decided without the store.
func (b *breaker) blame(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = err
}

func (b *breaker) lastCause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}
