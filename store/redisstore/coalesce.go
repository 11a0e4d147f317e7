package redisstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// coalescer is the sender that lets decisions ride together when many come at the
// same time: 32 in one call cost the server half of what they cost one by one. A
// lone decision never waits for company: it is sent by itself while only few are
// on the way. What can ride together is a matter of the slot in a cluster, else
// everything.
type coalescer struct {
	wire   *wire
	clock  *clock.Clock
	alone  atomic.Int64            // decisions on the way by themselves, over all queues
	queues []atomic.Pointer[queue] // by slot, or one
	riders sync.Pool               // of *rider, to be used again
}

const (
	aloneMost = 16               // so many decisions on the way are sent by themselves
	aloneAll  = 256              // over all slots: clients have queues too, in which a context does not count
	fewCalls  = 4                // so many calls of riders are on the way
	slowCall  = 50_000           // µs after which a call does not keep others from going
	mostCalls = 64               // however slow they are
	mostRide  = 32               // decisions in one call
	mostWait  = 16_384           // decisions in a queue
	longTime  = 10 * time.Second // for a call of riders that have all the time in the world
	slotCount = 16_384
)

// ErrBusy means that more decisions wait for Redis than fit into the queue.
var ErrBusy = errors.New("too many decisions wait for Redis")

// WithoutCoalescing makes one call per decision, also when many come at the same
// time: for comparison.
func WithoutCoalescing() Option {
	return func(s *Store) error {
		s.sender = direct{&s.wire}
		return nil
	}
}

func newCoalescer(w *wire, c *clock.Clock, spread bool) *coalescer {
	n := 1
	if spread {
		n = slotCount
	}
	co := &coalescer{wire: w, clock: c, queues: make([]atomic.Pointer[queue], n)}
	co.riders.New = func() any { return &rider{done: make(chan struct{}, 1)} }
	return co
}

// queue is where decisions for one place wait for the next call.
type queue struct {
	mu      sync.Mutex // guards the rest
	sent    int        // decisions on the way
	calls   []int64    // when those of riders that are on the way were sent
	waiting []*rider
}

// send implements sender. It returns when ctx ends, whatever the client does,
// unless the decision is sent by itself.
func (c *coalescer) send(ctx context.Context, d *decision) error {
	q := c.queueOf(d)
	if c.enter(q) {
		err := c.wire.decide(ctx, []*decision{d})
		c.leave(q)
		if err != nil {
			return err
		}
		return d.err
	}
	r := c.newRider(ctx, d)
	if !c.join(q, r) {
		return fmt.Errorf("%d decisions wait for a call: %w", mostWait, ErrBusy)
	}
	select {
	case <-r.done:
		return c.answer(r, d)
	case <-ctx.Done():
	}
	select {
	case <-r.done: // at the same moment
		return c.answer(r, d)
	default:
		r.left.Store(true)
		return ctx.Err()
	}
}

func (c *coalescer) queueOf(d *decision) *queue {
	at := &c.queues[0]
	if len(c.queues) > 1 {
		at = &c.queues[slot(d.name(&c.wire.names, 0))]
	}
	if q := at.Load(); q != nil {
		return q
	}
	at.CompareAndSwap(nil, new(queue))
	return at.Load()
}

// enter reports whether a decision may be sent by itself.
func (c *coalescer) enter(q *queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 || q.sent >= aloneMost || c.alone.Load() >= aloneAll {
		return false
	}
	c.alone.Add(1)
	q.sent++
	return true
}

// leave is the end of a decision that was sent by itself.
func (c *coalescer) leave(q *queue) {
	c.alone.Add(-1)
	q.mu.Lock()
	q.sent--
	q.mu.Unlock()
}

// join queues a decision. It fails if the queue is full.
func (c *coalescer) join(q *queue, r *rider) bool {
	q.mu.Lock()
	if len(q.waiting) >= mostWait {
		q.mu.Unlock()
		return false
	}
	q.waiting = append(q.waiting, r)
	now := c.clock.Now()
	ride := q.ride(now)
	q.mu.Unlock()
	if ride != nil {
		go c.drive(q, ride, now)
	}
	return true
}

// ride takes the next riders out of the queue if they may be sent now; q.mu is
// held.
func (q *queue) ride(now int64) []*rider {
	if len(q.waiting) == 0 || !q.mayCall(now) {
		return nil
	}
	n := min(len(q.waiting), mostRide)
	ride := append(make([]*rider, 0, n), q.waiting[:n]...)
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:])
	q.waiting = q.waiting[:rest]
	q.calls = append(q.calls, now)
	q.sent += n
	return ride
}

// mayCall reports whether another call may be made. Those that hang do not count
// among the few, or four of them would stop everything.
func (q *queue) mayCall(now int64) bool {
	if len(q.calls) < fewCalls {
		return true
	}
	quick := 0
	for _, sent := range q.calls {
		if now-sent < slowCall {
			quick++
		}
	}
	return quick < fewCalls && len(q.calls) < mostCalls
}

// drive makes calls as long as there are riders; the first was sent at now.
func (c *coalescer) drive(q *queue, ride []*rider, now int64) {
	for ride != nil {
		c.call(ride)
		// Those who have just been answered ask again now, most likely: let them
		// come along.
		runtime.Gosched()
		q.mu.Lock()
		i := slices.Index(q.calls, now)
		q.calls = slices.Delete(q.calls, i, i+1)
		q.sent -= len(ride)
		now = c.clock.Now()
		ride = q.ride(now)
		q.mu.Unlock()
	}
}

// call makes one call for all riders whose callers are still there.
func (c *coalescer) call(ride []*rider) {
	decisions := make([]*decision, 0, len(ride))
	deadline, limited := time.Time{}, true
	for _, r := range ride {
		if r.left.Load() {
			continue
		}
		decisions = append(decisions, &r.decision)
		limited = limited && !r.deadline.IsZero()
		if r.deadline.After(deadline) {
			deadline = r.deadline
		}
	}
	if len(decisions) == 0 {
		return
	}
	timeout := longTime
	if limited {
		timeout = min(timeout, time.Until(deadline))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	err := c.wire.decide(ctx, decisions)
	cancel()
	for _, r := range ride {
		if err != nil {
			r.err = err
		}
		r.done <- struct{}{}
	}
}
