package rls

import (
	"context"
	"errors"
	"sync"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
)

// figures asks for what is not known yet: how much is left of the limits that did not
// bind. Limits in shadow are nobody's business but the operator's.
func (c *call) figures(ctx context.Context) error {
	need := 0
	for i := range c.items {
		if c.items[i].untold() {
			need++
		}
	}
	if need == 0 || c.service.options.Engine.ShadowedAll() {
		return nil
	}
	if need > 1 && c.service.options.Remote {
		return c.figuresAtOnce(ctx)
	}
	for i := range c.items {
		if it := &c.items[i]; it.untold() {
			if err := c.peek(ctx, it, c.attributes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *call) figuresAtOnce(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, len(c.items))
	for i := range c.items {
		if it := &c.items[i]; it.untold() {
			all.Go(func() { errs[i] = c.peek(ctx, it, map[string]string{}) })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

func (i *item) untold() bool { return i.limited() && !i.told && !i.shadow() }

// peek finds out about the limit of one item, and spends nothing. What it says of a
// request that was allowed is never that it is not.
func (c *call) peek(ctx context.Context, it *item, attributes map[string]string) error {
	cost := max(1, it.cost)
	if it.refund || it.ask >= 0 && c.asks[it.ask].granted {
		cost = 1
	}
	var d sluice.Decision
	name := ""
	if it.override != nil {
		var err error
		if d, err = it.override.AllowN(ctx, it.key, 0); err != nil {
			return err
		}
		d.Allowed = d.Remaining() >= cost
	} else {
		clear(attributes)
		it.leaf.Mark(attributes, it.entries)
		peeked, err := c.service.options.Engine.Peek(ctx, engine.Request{Attributes: attributes, Cost: cost})
		if err != nil {
			return err
		}
		if peeked.Rule == nil { // every rule is in shadow
			return nil
		}
		d, name = peeked.Decision, peeked.LimitName
	}
	over := !d.Allowed
	it.tell(&d, name)
	if it.override == nil && d.Allowed {
		it.left += cost // it was asked what would be left
	}
	it.over = over && !it.refund && (it.ask < 0 || !c.asks[it.ask].granted)
	return nil
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
