package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// Wait is Check for who can wait: it returns when the request may go ahead, at most
// as much later as its rules say, or when ctx ends, and then gives the place back
// and returns the context's error. A request that cannot be let through in that time
// is denied at once, as far as that can be known.
//
// Limits that book the future tell each request its time. For those that do not
// (windows and logs), the requests of one key are queued in this process, first come
// first served: only the first of them asks the store, again and again when that says
// that it is worth it. Who is in a queue when the rule's wait is over is decided then.
// A request stands in one queue at a time, that of the limit which holds it longest,
// so that nobody else waits for somebody whose own limit is used up. A queue takes no
// more than its limit can admit in the time for which the last one may wait. Where
// the store is remote, several ask at the same time while there is enough, and may be
// answered in another order.
//
// A rule without wait never holds anybody. At most [MaxWaiters] requests are held at
// the same time, and of one key of a rule a tenth of that; those beyond are decided at
// once. Observers are told when all is over, once; [Decision.Wait] of the decision that
// is returned is 0.
func (e *Engine) Wait(ctx context.Context, r Request) (Decision, error) {
	entry, err := e.wait(ctx, &r, waiting{})
	return entry.Decision, err
}

// wait spends what a request costs, as w says, and waits for its turn.
func (e *Engine) wait(ctx context.Context, r *Request, w waiting) (entry Entry, err error) {
	w.engine, w.call, w.op = e, e.begin(r), store.Spend
	w.call.match(e)
	w.decide(ctx)
	err = e.finishEntry(w.call, &entry)
	entry.wait = 0 // it is over
	return entry, err
}

// WaitReserve is Reserve for who can wait, as Wait is Check: when it returns, a request
// whose reservation is granted may go ahead at once. Those who wait in either way stand
// in the same queues and count together.
func (e *Engine) WaitReserve(ctx context.Context, r Request) (*Reservation, error) {
	return e.waitReserve(ctx, &r, false)
}

// waiting is one call of Wait or WaitReserve.
type waiting struct {
	engine *Engine
	call   *call
	op     store.Op
	id     string // of the reservation
	since  int64  // when it began, µs by the engine's real clock
	at     place  // in the line in which it is its turn; without a key in none
	denied bool   // by the limit of that line, since it is its turn
	last   bool   // the next answer counts, whatever it is
	enters bool   // it takes permits
	inside bool   // it has permits
}

// decide decides the request, after a while if it may wait.
func (w *waiting) decide(ctx context.Context) {
	e, c, ev := w.engine, w.call, &w.call.event
	if w.op == store.Spend && e.decidePlain(ctx, c) {
		return // no rule of a plain one lets it wait
	}
	w.since = e.real.Now()
	if !c.anyHolds() || !e.enter(c) {
		w.ask(ctx, 0)
		return
	}
	defer e.room.leave(c)
	w.queue(ctx)
	if ev.Err != nil || !ev.Decision.Allowed {
		return
	}
	if err := clock.Sleep(ctx, ev.Decision.Wait()); err != nil {
		e.giveBackAll(ctx, c, w.op)
		w.left(err)
	}
}

// ask decides the request. within is for how long it may be told to wait, in µs.
func (w *waiting) ask(ctx context.Context, within int64) {
	owner := ""
	if w.enters { // by a new name every time: what was given back before may reach the store later
		owner = w.engine.ownerFor(w.call)
	}
	w.engine.decide(ctx, w.call, &terms{op: w.op, id: w.id, owner: owner, inside: w.inside, waited: w.waited(), within: within})
}

// waited returns how long it has been waiting.
func (w *waiting) waited() time.Duration {
	return time.Duration(w.engine.real.Now()-w.since) * time.Microsecond
}

// left says that the caller has gone.
func (w *waiting) left(err error) {
	c := w.call
	c.event.Err, c.event.Left, c.event.Decision = fmt.Errorf("engine: wait: %w", err), true, Decision{}
	c.event.Request, c.event.Path = &c.req, c.matches.Path
	c.list()
	c.undecided()
}
