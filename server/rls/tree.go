package rls

import (
	"context"
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store"
)

// decideTree decides a request of a domain that the tree knows. Nearly always that is
// one step, in which all descriptors spend or none. Before it stands a look if some only
// look, or several are quotas. Limits of the request itself, which no rule knows, are a
// step of their own: see spend.
func (c *call) decideTree(ctx context.Context) error {
	if err := c.lookFirst(ctx); err != nil {
		return err
	}
	if !c.denied {
		if err := c.spend(ctx); err != nil {
			return err
		}
	}
	if !c.denied {
		if err := c.refund(ctx); err != nil {
			return err
		}
	}
	return c.figures(ctx)
}

// lookFirst asks whether those that only look would be let through, and which quotas
// have room, if there is anything of that kind.
func (c *call) lookFirst(ctx context.Context) error {
	looks, quotas := false, 0
	for i := range c.items {
		it := &c.items[i]
		it.wanted = it.decided() && !it.refund
		looks = looks || it.looks()
		if it.quota && !it.refund {
			quotas++
		}
	}
	if c.several = quotas > 1; !looks && !c.several {
		return nil
	}
	if _, err := c.ask(ctx, true); err != nil {
		return err
	}
	if err := c.peekOverrides(ctx, (*item).looks); err != nil {
		return err
	}
	for i := range c.items {
		it := &c.items[i]
		c.denied = c.denied || it.looks() && it.over && !(it.quota && c.several)
	}
	if c.denied = c.denied || c.several && !c.roomInQuotas(); c.denied {
		return c.refuse(ctx)
	}
	return nil
}

// roomInQuotas reports whether a quota allows: together they refuse only if none does.
func (c *call) roomInQuotas() bool {
	for i := range c.items {
		if it := &c.items[i]; it.quota && !it.refund && !it.over {
			return true
		}
	}
	return false
}

// refuse lets the engine refuse what was only looked at, so that it is counted and seen.
// Should there be room at this moment, that is given back.
func (c *call) refuse(ctx context.Context) error {
	if !c.want(func(it *item) bool { return !it.refund && it.over }) {
		return nil
	}
	allowed, err := c.ask(ctx, false)
	if err != nil || !allowed {
		return err
	}
	c.giveBack(ctx)
	return nil
}

// spend takes what the items cost, of all or of none. The engine knows nothing of limits
// of the request itself. So a call that has both kinds takes those first, and gives them
// back if a rule refuses; others could miss them meanwhile. That the rules are looked at
// before leaves this to calls that come at the moment in which a rule is used up.
func (c *call) spend(ctx context.Context) error {
	allowed, err := c.rulesAllow(ctx)
	if allowed {
		allowed, err = c.spendOverrides(ctx)
	}
	if allowed {
		allowed, err = c.spendRest(ctx)
	}
	if allowed && err == nil {
		return nil
	}
	c.denied = true
	c.undoOverrides(ctx)
	if err != nil {
		return err
	}
	return c.spendLate(ctx)
}

// rulesAllow reports whether the rules have room for a call that has limits of its own
// too. If they do not, they are asked in earnest, so that it is counted and seen.
func (c *call) rulesAllow(ctx context.Context) (bool, error) {
	own := func(it item) bool { return it.override != nil && it.spends() }
	if c.several || !slices.ContainsFunc(c.items, own) || !c.want((*item).spends) {
		return true, nil
	}
	allowed, err := c.ask(ctx, true)
	if err == nil && !allowed {
		allowed, err = c.ask(ctx, false)
		if allowed && err == nil { // there is room at this moment
			c.giveBack(ctx)
		}
	}
	return allowed && err == nil, err
}

// giveBack gives back what was just taken by rules.
func (c *call) giveBack(ctx context.Context) {
	for i := range c.requests {
		r := c.requests[i]
		_ = c.service.options.Engine.Refund(ctx, r, r.Cost) // it stays spent then
	}
}

// spendRest takes what the items cost for which there are rules. Quotas that refuse are
// left out while others have room.
func (c *call) spendRest(ctx context.Context) (allowed bool, err error) {
	for range c.items { // every time a quota less
		c.want(func(it *item) bool { return it.spends() && !(it.quota && c.several && it.over) })
		if allowed, err = c.ask(ctx, false); allowed || err != nil || !c.onlyQuotasRefuse() {
			break
		}
	}
	return allowed, err
}

// onlyQuotasRefuse reports whether nothing but quotas refused, and one of them has room.
func (c *call) onlyQuotasRefuse() bool {
	if !c.several || !c.roomInQuotas() {
		return false
	}
	quota := false
	for i := range c.items {
		it := &c.items[i]
		if it.over && it.wanted && !it.quota {
			return false
		}
		quota = quota || it.over && it.wanted
	}
	return quota
}

// refund gives back what items with negative hits say.
func (c *call) refund(ctx context.Context) error {
	gives := func(it *item) bool { return it.limited() && it.refund && it.cost > 0 }
	for i := range c.items {
		it := &c.items[i]
		if !gives(it) || it.override != nil {
			continue
		}
		attributes := map[string]string{}
		it.leaf.Mark(attributes, it.entries)
		if err := c.service.options.Engine.Refund(ctx, engine.Request{Attributes: attributes}, it.cost); err != nil {
			return err
		}
	}
	return c.takeOverrides(ctx, store.Refund, false, only(gives), func(*item, *sluice.Decision) {})
}
