package engine

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/store"
)

// Entry is a request that was let in, or not. What it holds has to be given back with
// Leave when it is over, on every path.
type Entry struct {
	Decision
	held *held
}

// Enter is Check for requests of which the caller knows when they are over. It takes a
// permit of every limit of concurrency that the request matches, and holds them until
// [Entry.Leave]. A request that is denied holds nothing, and one that finds no permit
// spends nothing in other limits.
//
// Permits come first and are given back if another limit denies, so that for a moment
// others may find them taken. Permits of a remote store expire after 30 seconds and are
// renewed as long as the engine lives, so that a process that dies keeps none for
// longer; what happens while the store is down is what the rule says. For requests
// without such limits Enter is Check, and Leave does nothing.
//
// A denial for want of a permit has no RetryAfter: nobody knows when one will be free.
func (e *Engine) Enter(ctx context.Context, r Request) (entry Entry, err error) {
	c := e.begin(&r)
	c.match(e)
	if !e.decidePlain(ctx, c) {
		t := everyday
		t.owner = e.ownerFor(c)
		e.decide(ctx, c, &t)
	}
	err = e.finishEntry(c, &entry)
	return entry, err
}

// EnterWait is Enter for who can wait, as [Engine.Wait] is Check. Nobody waits for
// permits, and who waits for a turn that is booked holds them meanwhile.
func (e *Engine) EnterWait(ctx context.Context, r Request) (Entry, error) {
	return e.wait(ctx, &r, waiting{enters: true})
}

// EnterReserve is EnterWait for requests that are settled afterwards, as
// [Engine.WaitReserve] is Wait: see [Reservation.Leave].
func (e *Engine) EnterReserve(ctx context.Context, r Request) (*Reservation, error) {
	return e.waitReserve(ctx, &r, true)
}

func (e *Engine) waitReserve(ctx context.Context, r *Request, enters bool) (*Reservation, error) {
	c := e.begin(r)
	c.match(e)
	res := &Reservation{engine: e, ID: rand.Text()}
	w := waiting{engine: e, call: c, op: store.Reserve, id: res.ID, enters: enters}
	w.decide(ctx)
	res, err := res.finish(c)
	if err == nil {
		res.wait = 0 // it is over
	}
	return res, err
}

func (e *Engine) finishEntry(c *call, entry *Entry) error {
	entry.held = c.held
	return e.finish(c, &entry.Decision)
}

// observeEntry is observe for a request that holds something. If an observer panics the
// caller never learns of what there is to leave.
func (e *Engine) observeEntry(c *call) {
	told := false
	defer func() {
		if !told {
			c.held.leave()
		}
	}()
	e.observe(c)
	told = true
}

// Leave gives back what the request holds. It may be called more than once, also by
// several goroutines, and for a request that was denied. If the store cannot be reached
// the permits are free when they expire.
func (e Entry) Leave() { e.held.leave() }

// Leave gives back the permits that [Engine.EnterReserve] took; of other reservations it
// does nothing. Neither Commit nor Cancel does that: a request may be settled before it
// is over, or after.
func (r *Reservation) Leave() { r.held.leave() }

// Holds reports whether there is anything to give back.
func (e Entry) Holds() bool { return e.held != nil }

// More is Wait for one more piece of a request that was let in, such as a message of a
// stream: limits of concurrency are not asked, since it is counted there.
func (e *Engine) More(ctx context.Context, r Request) (Decision, error) {
	entry, err := e.wait(ctx, &r, waiting{inside: true})
	return entry.Decision, err
}

// owners give every request that enters a name of its own, among all processes.
type owners struct {
	prefix string
	last   atomic.Uint64
}

// ownerFor returns a name for who takes permits, or none if no rule has any.
func (e *Engine) ownerFor(c *call) string {
	if !c.state.permits {
		return ""
	}
	return e.owners.prefix + strconv.FormatUint(e.owners.last.Add(1), 36)
}
