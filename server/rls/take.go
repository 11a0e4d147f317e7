package rls

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/engine"
)

// take carries out one ask.
func (c *call) take(ctx context.Context, n int) error {
	a := &c.asks[n]
	it := &c.items[a.first]
	if a.own {
		d, err := it.override.AllowN(ctx, it.key, a.cost)
		if err != nil {
			return err
		}
		it.tell(&d, "")
		a.granted = d.Allowed
		return nil
	}
	d, err := c.service.options.Engine.Check(ctx, c.engineRequest(n))
	if err != nil {
		return err
	}
	if a.granted = d.Allowed; a.items == 1 && d.Rule != nil {
		it.tell(&d.Decision, d.LimitName)
		return nil
	}
	if !d.Allowed {
		c.blame(n, &d)
	}
	return nil
}

// engineRequest is one ask as the engine sees it.
func (c *call) engineRequest(ask int) engine.Request {
	clear(c.attributes)
	for i := range c.items {
		if it := &c.items[i]; it.ask == ask {
			it.leaf.Mark(c.attributes, it.entries)
		}
	}
	return engine.Request{Attributes: c.attributes, Cost: c.asks[ask].cost}
}

// blame finds the item by whose rule an ask of several was denied. If it is a rule of
// another kind, which applies to all requests, the first has to answer for it.
func (c *call) blame(ask int, d *engine.Decision) {
	at := c.asks[ask].first
	for i := range c.items {
		if it := &c.items[i]; it.ask == ask && d.Rule != nil && it.leaf.Rule == d.Rule.Name {
			at = i
			break
		}
	}
	c.items[at].tell(&d.Decision, d.LimitName)
}

// undo gives back what was taken for nothing, also if the caller has gone.
func (c *call) undo(ctx context.Context) {
	if !slices.ContainsFunc(c.asks, func(a ask) bool { return a.granted }) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for n := range c.asks {
		a := &c.asks[n]
		if !a.granted {
			continue
		}
		it := &c.items[a.first]
		if a.own {
			_ = it.override.Refund(ctx, it.key, a.cost) // it stays spent then
		} else {
			_ = c.service.options.Engine.Refund(ctx, c.engineRequest(n), a.cost)
		}
		a.granted = false
		for i := range c.items {
			if c.items[i].ask == n {
				c.items[i].told = false // there is more now
			}
		}
	}
}

// undoTime is how long we try to give back.
const undoTime = 50 * time.Millisecond
