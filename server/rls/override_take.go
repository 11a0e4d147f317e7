package rls

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// takeOverrides asks the store about limits of the request itself, all of them in one
// step, and tells what it said of each. cost says what of an item; below 0 it is left out.
// One that refuses keeps nothing from the others if they are taken apart.
func (c *call) takeOverrides(ctx context.Context, op store.Op, apart bool, cost func(*item) int64, tell func(*item, *sluice.Decision)) error {
	c.checks, c.asked = c.checks[:0], c.asked[:0]
	for i := range c.items {
		it := &c.items[i]
		if it.override == nil {
			continue
		}
		if n := cost(it); n >= 0 {
			c.checks = append(c.checks, store.Check{Key: it.key, Spec: it.override.Specs()[0], Cost: n, Shadow: apart})
			c.asked = append(c.asked, i)
		}
	}
	if len(c.checks) == 0 {
		return nil
	}
	if err := c.service.overrides.store.Take(ctx, op, c.checks); err != nil {
		return err
	}
	for n, i := range c.asked {
		var d sluice.Decision
		it := &c.items[i]
		it.override.Decide(c.checks[n:n+1], &d)
		tell(it, &d)
	}
	return nil
}

// only returns the cost of items that fit.
func only(fits func(*item) bool) func(*item) int64 {
	return func(it *item) int64 {
		if fits(it) {
			return it.cost
		}
		return -1
	}
}

// spendOverrides takes from the limits of the request itself, of all or of none.
func (c *call) spendOverrides(ctx context.Context) (allowed bool, err error) {
	allowed = true
	err = c.takeOverrides(ctx, store.Spend, false, only((*item).spends), func(it *item, d *sluice.Decision) {
		it.tell(d, "")
		it.taken, allowed = true, allowed && d.Allowed
	})
	if allowed && err == nil {
		return true, nil
	}
	for i := range c.items {
		if it := &c.items[i]; it.taken {
			if it.taken = false; !it.over { // another refuses: nothing was spent
				it.left += it.cost
			}
		}
	}
	return false, err
}

// undoTime is how long we try to give back.
const undoTime = 50 * time.Millisecond

// undoOverrides gives back what was taken for nothing, also if the caller has gone.
func (c *call) undoOverrides(ctx context.Context) {
	if !slices.ContainsFunc(c.items, func(it item) bool { return it.taken }) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	// If it fails, it stays spent.
	_ = c.takeOverrides(ctx, store.Refund, false, only(func(it *item) bool { return it.taken }), func(*item, *sluice.Decision) {})
	for i := range c.items {
		if it := &c.items[i]; it.taken {
			it.taken, it.told = false, false // there is more now
		}
	}
}

// peekOverrides finds out about limits of the request itself, those that fit.
func (c *call) peekOverrides(ctx context.Context, fits func(*item) bool) error {
	look := func(it *item) int64 { return min(0, only(fits)(it)) }
	return c.takeOverrides(ctx, store.Spend, false, look, func(it *item, d *sluice.Decision) {
		if it.tell(d, ""); !it.refund {
			it.over = d.Remaining() < max(1, it.cost)
		}
	})
}

// drainOverrides takes what is left of the limits of the request itself, up to the cost.
// They are taken apart: others may use one up meanwhile, or it stands in the call twice.
func (c *call) drainOverrides(ctx context.Context) error {
	if err := c.peekOverrides(ctx, func(it *item) bool { return !it.told }); err != nil {
		return err
	}
	return c.takeOverrides(ctx, store.Spend, true, func(it *item) int64 {
		rest := min(it.cost, it.left)
		if rest <= 0 {
			return -1
		}
		it.left -= rest
		return rest
	}, func(*item, *sluice.Decision) {})
}
