package rls

import (
	"context"

	"github.com/sluice-limiter/sluice/engine"
)

// decideTree decides a request of a domain that the tree knows.
func (c *call) decideTree(ctx context.Context) error {
	c.plan()
	if err := c.look(ctx); err != nil {
		return err
	}
	if err := c.spend(ctx); err != nil {
		return err
	}
	if !c.denied {
		if err := c.refund(ctx); err != nil {
			return err
		}
	}
	return c.figures(ctx)
}

// look asks for the items of cost 0: whether another request would be let through.
func (c *call) look(ctx context.Context) error {
	for i := range c.items {
		it := &c.items[i]
		if !it.limited() || it.refund || it.cost != 0 {
			continue
		}
		if err := c.peek(ctx, it, c.attributes); err != nil {
			return err
		}
		c.denied = c.denied || it.over && !it.quota
	}
	return nil
}

// spend takes what the items cost, of all or of none.
func (c *call) spend(ctx context.Context) error {
	if c.denied {
		return nil
	}
	if refused, err := c.spendQuotas(ctx); err != nil || refused {
		c.denied = c.denied || refused
		return err
	}
	for n := range c.asks {
		a := &c.asks[n]
		if a.quota {
			continue
		}
		err := c.take(ctx, n)
		if err == nil && a.granted {
			continue
		}
		c.denied = true
		c.undo(ctx)
		return err
	}
	return nil
}

// spendQuotas takes from those quotas that have enough. It reports whether there are
// some, and none has.
func (c *call) spendQuotas(ctx context.Context) (refused bool, err error) {
	if !c.quotas {
		return false, nil
	}
	some, granted := false, false
	for i := range c.items { // those that only look
		it := &c.items[i]
		some = some || it.quota && it.cost == 0
		granted = granted || it.quota && it.cost == 0 && !it.over
	}
	for n := range c.asks {
		if a := &c.asks[n]; a.quota {
			if err := c.take(ctx, n); err != nil {
				c.undo(ctx)
				return false, err
			}
			some, granted = true, granted || a.granted
		}
	}
	return some && !granted, nil
}

// refund gives back what items with negative hits say.
func (c *call) refund(ctx context.Context) error {
	for i := range c.items {
		it := &c.items[i]
		if !it.limited() || !it.refund || it.cost == 0 {
			continue
		}
		var err error
		if it.override != nil {
			err = it.override.Refund(ctx, it.key, it.cost)
		} else {
			clear(c.attributes)
			it.leaf.Mark(c.attributes, it.entries)
			err = c.service.options.Engine.Refund(ctx, engine.Request{Attributes: c.attributes}, it.cost)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
