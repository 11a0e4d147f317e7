package lease

import (
	"encoding/binary"
	"slices"

	"github.com/sluice-limiter/sluice/algo"
)

// world is everything that matters about instances that share one key: the real
// cores, the messages between them and the store, the store's state, and the
// judge's view of what was admitted. Each world has its own copy of all of it.
type world struct {
	scope *scope
	now   int64
	state algo.State
	nodes []*node
	mail  []mail // on the way to the store with nobody waiting for an answer
	judge judge
}

// node is an instance. Its clock is ahead of the store's by skew.
type node struct {
	core  *core
	skew  int64
	sent  bool // a request for tokens is on its way
	done  bool // the store has answered it
	req   request
	grant grant
	held  payment // taken for a decision that will be undone
}

// mail is a return of tokens, or the request of an instance that crashed.
type mail struct {
	give     bool
	cost, at int64
	mark     algo.Mark
}

// judge sees only what was admitted and when. For a bucket it is the excess of
// what was admitted over the refill, the greatest over all intervals that end
// now; for windows it is the count of the last few (sub-)windows.
type judge struct {
	level int64
	count [4]int64 // newest first
	turn  int64    // the end of the newest one, if the store's first hit opens windows
}

func (w *world) copy() *world {
	c := *w
	c.state.More = append([]int64(nil), w.state.More...)
	c.mail = append([]mail(nil), w.mail...)
	c.nodes = make([]*node, len(w.nodes))
	for i, n := range w.nodes {
		m := *n
		m.core = copyCore(n.core)
		m.held.lot, m.held.old = n.counterpart(n.held.lot, m.core), n.counterpart(n.held.old, m.core)
		c.nodes[i] = &m
	}
	return &c
}

func copyCore(c *core) *core {
	n := &core{
		plan: c.plan, want: c.want, era: c.era, lost: c.lost, asking: c.asking, sent: c.sent, short: c.short,
		hungry: c.hungry, rest: c.rest, off: c.off, since: c.since, count: c.count,
	}
	n.cur.Store(copyLot(c.cur.Load()))
	n.next, n.past = copyLot(c.next), copyLot(c.past)
	n.used = append(n.used, c.used...) // those lots are closed, and never change
	return n
}

func copyLot(l *lot) *lot {
	if l == nil {
		return nil
	}
	n := &lot{
		until: l.until, sent: l.sent, era: l.era, size: l.size, gone: l.gone, low: l.low,
		at: l.at, mark: l.mark, answer: l.answer,
	}
	n.left.Store(l.left.Load())
	n.open.Store(l.open.Load())
	return n
}

// counterpart is what a lot of the node has become in a copy of its core.
func (n *node) counterpart(l *lot, c *core) *lot {
	switch n.place(l) {
	case 1:
		return c.cur.Load()
	case 2:
		return c.next
	case 3:
		return c.past
	}
	return copyLot(l)
}

// key names the world up to the passing of time: worlds of equal keys have equal
// futures. Instants count from now; what is so long ago that it makes no
// difference is all the same.
func (w *world) key() string {
	k := keyOf{world: w}
	p := w.scope.plan
	if p.of.Wall() {
		k.add(w.now % p.of.Period)
	}
	if w.state.T > w.now {
		k.add(w.state.T-w.now, w.state.F)
		k.add(w.state.More...)
	}
	k.unordered(len(w.nodes), func(i int) { k.node(w.nodes[i]) })
	k.unordered(len(w.mail), func(i int) {
		k.flag(w.mail[i].give)
		k.add(w.mail[i].cost)
		k.spent(w.mail[i].at, w.mail[i].mark)
	})
	k.add(w.judge.level)
	k.add(w.judge.count[:max(1, w.scope.limit.Sub)]...)
	k.add(max(0, w.judge.turn-w.now))
	return string(k.b)
}

type keyOf struct {
	*world
	b []byte
}

func (k *keyOf) add(values ...int64) {
	for _, v := range values {
		k.b = binary.AppendVarint(k.b, v)
	}
}

func (k *keyOf) flag(v bool) {
	if v {
		k.add(1)
	} else {
		k.add(0)
	}
}

// unordered adds n things whose order makes no difference.
func (k *keyOf) unordered(n int, add func(i int)) {
	begin := len(k.b)
	parts := make([]string, n)
	for i := range n {
		add(i)
		parts[i] = string(k.b[begin:])
		k.b = k.b[:begin]
	}
	slices.Sort(parts)
	k.add(int64(n))
	for _, p := range parts {
		k.b = append(k.b, p...)
	}
}

// spent adds what a return can make of tokens that were spent at an instant.
func (k *keyOf) spent(at int64, mark algo.Mark) {
	limit := &k.scope.limit
	switch {
	case !k.scope.plan.returns:
	case limit.Kind == algo.TokenBucket:
		k.add(max(0, mark.A-k.now))
	case limit.FirstHit:
		k.flag(k.now < k.state.T && at >= k.state.T-limit.Period)
	default:
		size := limit.Period / max(1, limit.Sub)
		k.add(min(k.now/size-at/size, max(1, limit.Sub)))
	}
}

func (k *keyOf) node(n *node) {
	now := k.now + n.skew
	k.lot(n, n.core.cur.Load(), now)
	k.lot(n, n.core.next, now)
	k.add(int64(len(n.core.used)))
	for _, u := range n.core.used {
		k.add(u.unused)
		k.spent(u.lot.at, u.lot.mark)
	}
	k.flag(n.sent)
	k.flag(n.done)
	if n.sent {
		k.add(max(n.req.sent-now, -k.scope.plan.age), n.req.want)
		k.flag(n.req.era == n.core.era)
	}
	if n.done {
		k.add(n.grant.granted)
		if n.grant.granted > 0 {
			k.add(n.core.plan.spec.TurnAfter(n.grant.verdict)) // all that the core reads of the verdict
			k.spent(n.grant.at, n.grant.mark)
		}
	}
	k.add(n.held.cost, n.held.part)
	for _, l := range []*lot{n.held.lot, n.held.old} {
		place := n.place(l)
		if !k.scope.backs {
			place = min(place, 3) // what was used up last is of use to refunds only
		}
		if k.add(place); l != nil {
			k.spent(l.at, l.mark)
		}
	}
	if l := n.core.past; k.scope.backs && l != nil && now < l.until {
		k.add(l.until - now)
		k.spent(l.at, l.mark)
		k.refundable(l)
	}
}

// refundable adds how much of a lot a refund could put back.
func (k *keyOf) refundable(l *lot) {
	if k.scope.backs {
		k.add(l.spent())
	}
}

func (k *keyOf) lot(n *node, l *lot, now int64) {
	if l == nil || now >= l.until && !n.core.plan.returns ||
		l.left.Load() == 0 && l != n.held.lot && l != n.held.old && !k.scope.backs {
		k.add(-1)
		return
	}
	k.add(l.left.Load(), max(0, l.until-now))
	k.spent(l.at, l.mark)
	k.refundable(l)
}

// place tells where a lot stands that a payment came from.
func (n *node) place(l *lot) int64 {
	switch l {
	case nil:
		return 0
	case n.core.cur.Load():
		return 1
	case n.core.next:
		return 2
	case n.core.past:
		return 3
	}
	return 4 // ended
}
