package lease

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/algo"
)

// entry is the lease of one key, and who waits for it.
type entry struct {
	hash, shape uint64
	key         string
	spec        atomic.Pointer[algo.Spec] // the limit that the lots belong to
	dry         atomic.Int64              // until this instant the store has nothing: ask it directly

	mu      sync.Mutex // guards what follows; of core all but take
	core    core
	queue   []*waiter // in the order in which they came
	pumping bool      // a goroutine fetches tokens
	listed  bool      // the sweeper watches over it
	dead    bool      // its place in the table is another's: look again
	seen    int64     // when it was last of use
}

// waiter is a request that waits for tokens.
type waiter struct {
	cost  int64
	asked bool // it came before the request for tokens was sent
	done  chan reply
}

// reply tells a waiter what became of it.
type reply struct {
	how     outcome
	pay     payment
	verdict algo.Verdict
	err     error
}

type outcome uint8

const (
	paid   outcome = iota // go
	denied                // the store has no more
	direct                // ask the store yourself
	failed                // the store did not answer
)

func newEntry(hash uint64, key string, shape uint64, p *plan, now int64) *entry {
	e := &entry{hash: hash, shape: shape, key: key, seen: now}
	e.core.plan, e.core.want = p, 1
	e.spec.Store(p.of)
	return e
}

// bury takes an idle entry out of use, for another to take its place.
func (e *entry) bury(now int64) bool {
	if !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	if e.pumping || e.listed || len(e.queue) > 0 || !e.core.idle() || now-e.seen < e.core.plan.life/2 {
		return false
	}
	e.dead = true
	return true
}

// follow lets the lease go on under the plan p. A limit that changed binds at
// once: what was taken under the old one is given up.
func (e *entry) follow(p *plan) {
	if !e.core.plan.same(p) {
		e.core.drop(true)
		e.dry.Store(0)
	}
	e.core.plan = p
	e.spec.Store(p.of)
}

// needs reports whether tokens should be fetched.
func (e *entry) needs(now int64) bool {
	return len(e.queue) > 0 || e.core.hungry || e.core.low(now) && now >= e.dry.Load()
}

// join puts a new waiter at the end of the queue.
func (e *entry) join(cost int64) *waiter {
	w := &waiter{cost: cost, done: make(chan reply, 1)}
	e.queue = append(e.queue, w)
	return w
}

// leave takes a waiter out of the queue. It fails if it was answered already.
func (e *entry) leave(w *waiter) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.Index(e.queue, w)
	if i >= 0 {
		e.queue = slices.Delete(e.queue, i, i+1)
	}
	return i >= 0
}

// ask begins a request for all that wait: at least for the first of them.
func (e *entry) ask(now int64) request {
	first, all := int64(0), int64(0)
	for i, w := range e.queue {
		if i == 0 {
			first = w.cost
		}
		w.asked = true
		all = min(all+w.cost, algo.MaxCount)
	}
	return e.core.ask(now, first, all)
}

// serve lets waiters go in order, as far as the tokens reach.
func (e *entry) serve(now int64) {
	served := 0
	for _, w := range e.queue {
		p, ok := e.core.draw(now, w.cost)
		if !ok {
			break
		}
		w.done <- reply{how: paid, pay: p}
		served++
	}
	e.queue = slices.Delete(e.queue, 0, served)
}

// resolve answers the waiters as far as the store's answer v to the request goes,
// before others see what it granted. Those for whom there are tokens here are paid, unless somebody stays who
// came before them. Those whom v leaves no hope are denied: they came before the
// store was asked, and by its own account at that instant there was no more for
// them, here or there. Those for whom there may be something, or about whom v
// says nothing, stay.
func (e *entry) resolve(now int64, r request, v algo.Verdict) {
	p, kept := e.core.plan, e.queue[:0]
	room := p.spec.Remaining(v)
	here := int64(0) // of the tokens here, what is left for those who stay
	for _, w := range e.queue {
		if len(kept) == 0 {
			if pay, ok := e.core.draw(now, w.cost); ok {
				w.done <- reply{how: paid, pay: pay}
				continue
			}
			here = e.core.held(now)
		}
		switch {
		case !w.asked:
		case w.cost <= here+room:
			there := max(0, w.cost-here)
			here -= w.cost - there
			room -= there
			v = p.spec.Moved(v, there)
		default:
			if answer, ok := p.denial(r, v, w.cost); ok {
				w.done <- answer
				continue
			}
		}
		kept = append(kept, w)
	}
	clear(e.queue[len(kept):])
	e.queue = kept
	e.core.turn(now)
}

// denial is the reply to a waiter for whom the store's answer v to the request
// leaves nothing, if v tells enough for one.
func (p *plan) denial(r request, v algo.Verdict, cost int64) (reply, bool) {
	if d, known := p.spec.DenialAfter(v, cost); known {
		return reply{how: denied, verdict: p.outward(d)}, true
	}
	if !v.Allowed && cost == r.cost {
		return reply{how: denied, verdict: p.outward(v)}, true
	}
	return reply{how: direct}, !v.Allowed && cost > r.cost
}

// flush gives everybody in the queue the same reply.
func (e *entry) flush(r reply) {
	for _, w := range e.queue {
		w.done <- r
	}
	clear(e.queue)
	e.queue = e.queue[:0]
}
