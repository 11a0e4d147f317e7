package sqllimit

import (
	"context"
	"time"
)

// guard decides about statements. It is shared by all connections.
type guard struct {
	flights []flight
	rates   []rate
	remote  bool // a limit has to ask a store
	apart   lane // of statements outside transactions that wait for the rate
	inTx    lane // of those inside, which never stand behind one that waits for a permit
	maxWait time.Duration
	memo    memo
	weigh   func(query string) weight
	costs   [256]int64 // by class
}

func newGuard(name string, opts []Option) *guard {
	g := &guard{maxWait: DefaultMaxWait}
	g.weigh = g.memo.weigh
	for class := range g.costs {
		g.costs[class] = 1
	}
	g.costs[Free], g.costs[Write] = 0, 2
	for _, o := range opts {
		o.apply(g)
	}
	if len(g.flights)+len(g.rates) == 0 {
		panic("sqllimit: " + name + ": no limit: give WithInFlight, WithLimit or another")
	}
	g.apart.open(g.remote)
	g.inTx.open(g.remote)
	return g
}

// price is what the rate is asked for a text. A text of several statements costs what
// they cost, but no more than the rate can admit at once, or it could never run.
func (g *guard) price(w weight) int64 {
	one := g.costs[w.class]
	if w.reads+w.writes <= 1 {
		return one
	}
	cost := w.reads*g.costs[Read] + w.writes*g.costs[Write]
	for _, r := range g.rates {
		cost = min(cost, r.most())
	}
	return max(cost, one)
}

// admit takes a permit of all limits in flight, if it is to fly, and the cost.
//
// The rate is asked last, with the permits in hand, and spends in the moment in
// which the statement goes ahead: so the database never sees more than the rate, as
// it would if some had paid before and then came all at once. Who is denied by the
// rate gives its permits back before it waits.
func (g *guard) admit(ctx context.Context, class Class, cost int64, flying bool) (ticket, error) {
	if !g.remote {
		if t, ok := g.pass(cost, flying); ok {
			return t, nil
		}
	}
	return g.wait(ctx, class, cost, flying)
}

// pass takes what can be had at once in this process: all of it, or nothing.
func (g *guard) pass(cost int64, flying bool) (t ticket, ok bool) {
	if cost > 0 && g.lane(flying).busy() {
		return ticket{}, false // those who wait go first
	}
	paid := 0
	t.guard = g
	defer func() { // also when a limit panics
		if !ok {
			t.release()
			t.guard.refund(paid, cost)
			t = ticket{}
		}
	}()
	if flying {
		for _, f := range g.flights {
			got := f.try()
			if got == nil {
				return t, false
			}
			t.add(got)
		}
	}
	if cost > 0 {
		for _, r := range g.rates {
			if !r.try(cost) {
				return t, false
			}
			paid++
		}
		t.cost = cost
	}
	return t, true
}

// lane returns where to wait for the rate.
func (g *guard) lane(flying bool) *lane {
	if flying {
		return &g.apart
	}
	return &g.inTx
}

// refund gives cost back to the first n rates.
func (g *guard) refund(n int, cost int64) {
	for _, r := range g.rates[:n] {
		r.refund(cost)
	}
}
