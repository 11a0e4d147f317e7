package rls

import (
	"context"
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
)

// want makes items that fit part of the next question to the engine. It reports whether
// there are some.
func (c *call) want(fits func(*item) bool) (some bool) {
	for i := range c.items {
		it := &c.items[i]
		it.wanted = it.decided() && fits(it)
		some = some || it.wanted
	}
	return some
}

// ask asks the engine about all items that are wanted, in one step: all may pass, or
// none. A look spends nothing. It reports whether they may.
func (c *call) ask(ctx context.Context, look bool) (bool, error) {
	c.requests = c.requests[:0]
	for i := range c.items {
		c.items[i].part = -1
		if c.items[i].wanted {
			c.add(i)
		}
	}
	n := len(c.requests)
	if n == 0 {
		return true, nil
	}
	c.answers = slices.Grow(c.answers[:0], n)[:n]
	var whole engine.Decision
	var err error
	if look {
		whole, err = c.service.options.Engine.PeekAll(ctx, c.requests, c.answers)
	} else {
		whole, err = c.service.options.Engine.CheckAll(ctx, c.requests, c.answers)
	}
	if err != nil {
		return false, err
	}
	for i := range c.items {
		if it := &c.items[i]; it.part >= 0 {
			it.hear(&c.answers[it.part], c.requests[it.part].Cost, whole.Allowed && !look)
		}
	}
	return whole.Allowed, nil
}

// add makes an item part of the next question. Two that are the same are one, of the
// cost of both.
func (c *call) add(i int) {
	it := &c.items[i]
	cost := max(1, it.cost)
	if it.refund {
		cost = 1
	}
	for j := range c.items[:i] {
		if o := &c.items[j]; o.part >= 0 && o.leaf == it.leaf && it.leaf.Same(o.entries, it.entries) {
			it.part = o.part
			r := &c.requests[it.part]
			r.Cost = min(r.Cost+cost, algo.MaxCount)
			return
		}
	}
	it.part = len(c.requests)
	if it.part == len(c.attributes) {
		c.attributes = append(c.attributes, map[string]string{})
	}
	attributes := c.attributes[it.part]
	clear(attributes)
	it.leaf.Mark(attributes, it.entries)
	c.requests = append(c.requests, engine.Request{Attributes: attributes, Cost: cost})
}

// hear takes the answer of the engine. What was not spent is still there.
func (i *item) hear(d *engine.Decision, cost int64, spent bool) {
	i.heard, i.over = true, !d.Allowed
	if d.Rule == nil {
		return
	}
	if i.tell(&d.Decision, d.LimitName); d.Allowed && !d.Shadow && !spent {
		i.left += cost
	}
}

// tell takes the figures of a decision.
func (i *item) tell(d *sluice.Decision, name string) {
	i.over = !d.Allowed
	if d.Blind || d.Plan() == nil {
		return
	}
	i.told, i.limit, i.name, i.left, i.reset = true, d.Limit(), name, d.Remaining(), d.ResetAfter()
	if retry := d.RetryAfter(); retry > 0 {
		i.reset = retry
	}
}

// figures asks for what is not known yet: what is left of limits that were not asked, or
// that something was given back to. They say nothing against a request that may pass.
func (c *call) figures(ctx context.Context) error {
	if err := c.peekOverrides(ctx, func(it *item) bool { return !it.told }); err != nil {
		return err
	}
	if !c.want(func(it *item) bool { return !it.heard }) {
		return nil
	}
	if _, err := c.ask(ctx, true); err != nil {
		return err
	}
	for i := range c.items {
		if it := &c.items[i]; it.wanted && (it.refund || !c.denied) {
			it.over = false
		}
	}
	return nil
}
