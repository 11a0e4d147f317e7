package rls

import (
	"context"

	"github.com/sluice-limiter/sluice/engine"
)

// lateTries is how often it is tried to take what is left, while others take of it too.
const lateTries = 3

// late reports whether all costs of the call are told when they are there already, as
// far as that can be known: every descriptor brings one of its own. So it is with
// apply_on_stream_done of Envoy.
func (c *call) late() bool {
	if !c.service.options.LateCosts {
		return false
	}
	for i := range c.items {
		if it := &c.items[i]; !it.own || it.refund || it.cost == 0 {
			return false
		}
	}
	return true
}

// spendLate takes from every limit of a refused call what is left, up to the cost, if its
// costs are late. Else a budget would never be used up by costs that do not fit, and who
// only looks at it would be let through for ever.
func (c *call) spendLate(ctx context.Context) error {
	if !c.late() {
		return nil
	}
	if err := c.drainOverrides(ctx); err != nil {
		return err
	}
	if len(c.requests) == 0 { // a limit of the request itself was first to refuse
		c.want(func(it *item) bool { return it.spends() })
		if _, err := c.ask(ctx, true); err != nil {
			return err
		}
	}
	for i := range c.items {
		if it := &c.items[i]; it.part >= 0 {
			it.left = max(0, it.left-c.requests[it.part].Cost)
		}
	}
	return c.drain(ctx)
}

// drain takes what the answers say is left, up to the cost.
func (c *call) drain(ctx context.Context) error {
	for range lateTries {
		some := c.requests[:0]
		for i := range c.answers[:len(c.requests)] {
			r := c.requests[i]
			if r.Cost = rest(&c.answers[i], r.Cost); r.Cost > 0 {
				some = append(some, r)
			}
		}
		if c.requests = some; len(some) == 0 {
			return nil
		}
		d, err := c.service.options.Engine.CheckAll(ctx, c.requests, c.answers[:len(some)])
		if err != nil || d.Allowed {
			return err
		}
	}
	return nil
}

// rest returns how much of a cost a limit has room for.
func rest(d *engine.Decision, cost int64) int64 {
	if d.Allowed && !d.Shadow {
		return cost
	}
	return min(cost, d.Remaining())
}

// drainOwn is spendLate for rules of our own, of which d speaks.
func (c *call) drainOwn(ctx context.Context, r engine.Request, d engine.Decision) error {
	for range lateTries {
		if r.Cost = min(r.Cost, d.Remaining()); d.Allowed || r.Cost <= 0 {
			return nil
		}
		var err error
		if d, err = c.service.options.Engine.Check(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
