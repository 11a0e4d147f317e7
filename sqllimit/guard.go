package sqllimit

import (
	"context"
	"time"
)

// guard decides about statements. It is shared by all connections.
type guard struct {
	flights  []flight
	rates    []rate
	maxWait  time.Duration
	classify func(query string) Class
	costs    [256]int64 // by class
}

func newGuard(opts []Option) *guard {
	g := &guard{maxWait: DefaultMaxWait, classify: new(memo).classify}
	for class := range g.costs {
		g.costs[class] = 1
	}
	g.costs[Free], g.costs[Write] = 0, 2
	for _, o := range opts {
		o.apply(g)
	}
	return g
}

// ticket is what was taken for one statement, its rows or a transaction. The
// zero ticket is of one that needs nothing.
type ticket struct {
	guard   *guard
	cost    int64 // spent at the rates
	permit  permit
	permits []permit // of the second limit in flight and those that follow
}

// admit takes a permit of all limits in flight, if it is to, and the cost. The rate
// comes last: it is spent in the moment in which the statement goes ahead. It
// returns a ticket that holds something, or an error.
func (g *guard) admit(ctx context.Context, class Class, cost int64, flying bool) (t ticket, err error) {
	t.guard = g
	var p *patience // made when there is something to wait for
	if flying {
		for _, f := range g.flights {
			got := f.try()
			if got == nil {
				p = g.patience(p, ctx)
				if got, err = f.acquire(p); err != nil {
					t.release()
					return ticket{}, p.refusal(class, true, err)
				}
			}
			t.add(got)
		}
	}
	for i, r := range g.rates {
		if cost == 0 || r.try(cost) {
			continue
		}
		p = g.patience(p, ctx)
		if err := r.take(p, cost); err != nil {
			t.release()
			refund(ctx, g.rates[:i], cost)
			return ticket{}, p.refusal(class, false, err)
		}
	}
	if p != nil {
		p.end()
	}
	t.cost = cost
	return t, nil
}

// patience returns p, or a new one.
func (g *guard) patience(p *patience, ctx context.Context) *patience {
	if p != nil {
		return p
	}
	return &patience{parent: ctx, max: g.maxWait}
}

func (t *ticket) add(p permit) {
	if t.permit == nil {
		t.permit = p
		return
	}
	t.permits = append(t.permits, p)
}

// release gives the permits back. A second time it does nothing.
func (t *ticket) release() {
	if t.permit == nil {
		return
	}
	first, others := t.permit, t.permits
	t.permit, t.permits = nil, nil
	first.Release()
	for _, p := range others {
		p.Release()
	}
}

// undo gives back everything: the statement never reached the database.
func (t *ticket) undo(ctx context.Context) {
	t.release()
	if t.cost > 0 {
		refund(ctx, t.guard.rates, t.cost)
		t.cost = 0
	}
}

func refund(ctx context.Context, rates []rate, cost int64) {
	for _, r := range rates {
		r.refund(ctx, cost)
	}
}
