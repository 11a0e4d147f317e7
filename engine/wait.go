package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/rule"
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
//
// A rule without wait never holds anybody. At most [MaxWaiters] requests are held at
// the same time; those beyond are decided at once. Observers are told
// when all is over, once; [Decision.Wait] of the decision that is returned is 0.
func (e *Engine) Wait(ctx context.Context, r Request) (Decision, error) {
	c := e.begin(r)
	c.match(e)
	w := waiting{engine: e, call: c, since: e.real.Now()}
	if w.mayWait() {
		defer e.waiters.Add(-1)
		w.wait(ctx)
	} else {
		w.ask(ctx, 0)
	}
	d, err := e.finish(c)
	d.wait = 0 // it is over
	return d, err
}

// waiting is one call of Wait.
type waiting struct {
	engine *Engine
	call   *call
	since  int64   // when it began, µs by the engine's real clock
	lines  []place // in which it queues
	turns  int     // in how many of them it is its turn
}

// place is one in a line.
type place struct {
	key  string
	wait time.Duration // of the rule
}

// mayWait reports whether a rule lets the request wait and there is room for one more.
func (w *waiting) mayWait() bool {
	e := w.engine
	if !w.call.anyHolds() {
		return false
	}
	if e.waiters.Add(1) <= e.maxWaiters {
		return true
	}
	e.waiters.Add(-1)
	e.warn(manyWaiters, "sluice: too many requests are waiting, more are decided at once", "most", e.maxWaiters)
	return false
}

// holds reports whether a rule lets its requests wait.
func (c *call) holds(h *rule.Hit) bool { return h.Rule.Wait > 0 && !h.Denied && c.enforces(h) }

func (c *call) anyHolds() bool {
	for i := range c.matches.Hits {
		if c.holds(&c.matches.Hits[i]) {
			return true
		}
	}
	return false
}

// queues reports whether requests of a rule have to queue here: a limit of it does
// not book the future.
func (c *call) queues(h *rule.Hit) bool {
	if !c.holds(h) {
		return false
	}
	for _, p := range h.Limits.Enforce {
		if p != nil && !p.Books() {
			return true
		}
	}
	return false
}

func (w *waiting) wait(ctx context.Context) {
	ev := &w.call.event
	if !w.hopeless(ctx) {
		w.queue(ctx)
		w.repeat(ctx)
		w.leave()
	}
	if ev.Err != nil || !ev.Decision.Allowed {
		return
	}
	if err := sleep(ctx, ev.Decision.Wait()); err != nil {
		w.engine.giveBackAll(ctx, w.call, store.Spend)
		w.left(err)
	}
}

// ask decides the request. within is for how long it may be told to wait, in µs.
func (w *waiting) ask(ctx context.Context, within int64) {
	w.engine.decide(ctx, w.call, &terms{op: store.Spend, waited: w.waited(), within: within})
}

// waited returns how long it has been waiting.
func (w *waiting) waited() time.Duration {
	return time.Duration(w.engine.real.Now()-w.since) * time.Microsecond
}

// hopeless decides a request at once that would have to queue and could not be let
// through in time even if it were the first.
func (w *waiting) hopeless(ctx context.Context) bool {
	c, e := w.call, w.engine
	busy := false
	for i := range c.matches.Hits {
		if h := &c.matches.Hits[i]; c.queues(h) {
			p := place{string(h.Key), time.Duration(h.Rule.Wait)}
			w.lines = append(w.lines, p)
			busy = busy || e.lines.busy(p.key)
		}
	}
	if !busy {
		return false
	}
	e.decide(ctx, c, &terms{op: store.Spend, peek: true, within: patience(ctx)})
	d := &c.event.Decision
	return c.event.Err != nil || !d.Allowed && !d.Waits
}

// queue waits for the turn in all lines. Everybody enters them in the same order, so
// that nobody waits for each other in a circle.
func (w *waiting) queue(ctx context.Context) {
	slices.SortFunc(w.lines, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	for _, p := range w.lines {
		if !w.engine.lines.enter(ctx, p.key, p.wait-w.waited()) {
			return
		}
		w.turns++
	}
}

// leave lets the next ones ask.
func (w *waiting) leave() {
	for _, p := range w.lines[:w.turns] {
		w.engine.lines.leave(p.key)
	}
}

// repeat asks until the request is let through, or cannot be in time.
func (w *waiting) repeat(ctx context.Context) {
	ev := &w.call.event
	for {
		if err := ctx.Err(); err != nil {
			w.left(err)
			return
		}
		w.ask(ctx, patience(ctx))
		if ev.Err != nil || !ev.Decision.Waits || w.turns < len(w.lines) {
			return
		}
		if err := sleep(ctx, ev.Decision.RetryAfter()); err != nil {
			w.left(err)
			return
		}
		w.call.match(w.engine) // the rules may have changed meanwhile
	}
}

// left says that the caller has gone.
func (w *waiting) left(err error) {
	c := w.call
	c.event.Err, c.event.Decision = fmt.Errorf("engine: wait: %w", err), Decision{}
	c.event.Request, c.event.Path = &c.req, c.matches.Path
	for i := range c.event.Outcomes {
		c.event.Outcomes[i].Spent = false
	}
}

// patience returns how long the context lets us wait, in µs.
func patience(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return forever
	}
	return max(0, time.Until(deadline).Microseconds())
}

// sleep waits for d or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
