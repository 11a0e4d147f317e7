package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// coalescer is the sender that lets decisions ride together when many come at the
// same time: 32 in one call cost the server half of what they cost one by one. A
// lone decision never waits for company: the first two on the way are sent by
// themselves, and all others wait for nobody but those who are ready to run. What can
// ride together is a matter of the slot in a cluster, else everything.
type coalescer struct {
	wire   *wire
	clock  *clock.Clock
	pace   pace
	alone  atomic.Int64            // decisions on the way by themselves, over all queues
	queues []atomic.Pointer[queue] // by slot, or one
	riders sync.Pool               // of *rider, to be used again

	// denials, if any, are asked before a call, which may spare it, and told of its
	// answers before the next.
	denials *denials
}

const (
	aloneMost = 2                // so many decisions on the way are sent by themselves
	aloneAll  = 256              // over all slots: clients have queues too, in which a context does not count
	fewCalls  = 8                // so many calls of riders are on the way
	slowCall  = 50_000           // µs after which a call does not keep others from going
	slowTurn  = 5_000            // µs, likewise where there is one at a time: others wait so long besides their own call
	mostCalls = 64               // however slow they are
	mostRide  = 32               // decisions in one call
	mostWait  = 16_384           // decisions in a queue
	longTime  = 10 * time.Second // for a call of riders that have all the time in the world
	slotCount = 16_384
)

// pace is how many decisions of a queue may be on the way.
type pace struct {
	alone int   // decisions that are sent by themselves
	calls int   // calls of riders
	ride  int   // decisions in one call
	slow  int64 // µs after which a call does not keep others from going
}

var (
	crowd = pace{aloneMost, fewCalls, mostRide, slowCall}
	// inTurn makes one call after the other. What waits meanwhile is mostly about
	// the same few keys, and cheap together.
	inTurn = pace{alone: 0, calls: 1, ride: 4 * mostRide, slow: slowTurn}
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

func newCoalescer(w *wire, c *clock.Clock, p pace, spread bool) *coalescer {
	n := 1
	if spread {
		n = slotCount
	}
	co := &coalescer{wire: w, clock: c, pace: p, queues: make([]atomic.Pointer[queue], n)}
	co.riders.New = func() any { return &rider{done: make(chan struct{}, 1)} }
	return co
}

// queue is where decisions for one place wait for the next call.
type queue struct {
	mu      sync.Mutex // guards the rest
	sent    int        // decisions on the way
	calls   []int64    // when those of riders that are on the way were sent
	waiting []*rider
	gathers bool // somebody is about to take riders out of it
	watched bool // somebody will look at it again
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
	if len(q.waiting) > 0 || q.sent >= c.pace.alone || c.alone.Load() >= aloneAll {
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
	if c.denials != nil { // who goes alone may spare all others the call
		ride := q.ride(now, &c.pace)
		q.mu.Unlock()
		if ride != nil {
			go c.drive(q, ride, now)
		}
		return true
	}
	c.attend(q, now)
	q.mu.Unlock()
	return true
}

// attend sees to those who wait; q.mu is held. They are gathered if a call may be made.
// Else those take them along whose calls end; in case that these hang, and nobody comes
// by who notices, somebody looks again after a while.
func (c *coalescer) attend(q *queue, now int64) {
	switch {
	case len(q.waiting) == 0 || q.gathers:
	case q.mayCall(now, &c.pace):
		q.gathers = true
		go c.gather(q)
	case !q.watched:
		q.watched = true
		time.AfterFunc(time.Duration(c.pace.slow)*time.Microsecond, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.watched = false
			c.attend(q, c.clock.Now())
		})
	}
}

// ride takes the next riders out of the queue if they may be sent now; q.mu is
// held.
func (q *queue) ride(now int64, p *pace) []*rider {
	if len(q.waiting) == 0 || !q.mayCall(now, p) {
		return nil
	}
	n := min(len(q.waiting), p.ride)
	ride := append(make([]*rider, 0, n), q.waiting[:n]...)
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:])
	q.waiting = q.waiting[:rest]
	q.calls = append(q.calls, now)
	q.sent += n
	return ride
}

// mayCall reports whether another call may be made. Those that hang do not count
// among the few, or they would stop everything.
func (q *queue) mayCall(now int64, p *pace) bool {
	if len(q.calls) < p.calls {
		return true
	}
	quick := 0
	for _, sent := range q.calls {
		if now-sent < p.slow {
			quick++
		}
	}
	return quick < p.calls && len(q.calls) < mostCalls
}
