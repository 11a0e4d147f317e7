package rls

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/sluice-limiter/sluice/engine"
)

// domainAttribute is the attribute with the domain.
const domainAttribute = "domain"

// decideOwn decides a request by the rules of the engine. All descriptors of a call are
// about one request, so their entries are attributes of one; every status tells of the
// limit that bound it.
func (c *call) decideOwn(ctx context.Context) error {
	request, err := c.ownRequest()
	if err != nil {
		return err
	}
	e := c.service.options.Engine
	var d engine.Decision
	cost, refund := c.ownCost()
	if refund {
		if err := e.Refund(ctx, request, cost); err != nil {
			return err
		}
	}
	unspent := int64(0) // what a look says would be spent
	if refund || cost == 0 {
		request.Cost = 1
		if d, err = e.Peek(ctx, request); d.Allowed {
			unspent = 1
		}
		d.Allowed = d.Allowed || refund
	} else {
		request.Cost = cost
		d, err = e.Wait(ctx, request) // for as long as the rules say
	}
	if err != nil {
		return err
	}
	if c.denied = !d.Allowed; c.denied && c.late() {
		if err := c.drainOwn(ctx, request, d); err != nil {
			return err
		}
	}
	for i := range c.items {
		it := &c.items[i]
		if d.Rule != nil {
			it.tell(&d.Decision, d.LimitName)
			it.left += unspent
		}
		it.over = !d.Allowed
	}
	return nil
}

// ownRequest puts all entries together.
func (c *call) ownRequest() (engine.Request, error) {
	if len(c.attributes) == 0 {
		c.attributes = append(c.attributes, map[string]string{})
	}
	attributes := c.attributes[0]
	attributes[domainAttribute] = c.request.GetDomain()
	r := engine.Request{Attributes: attributes}
	for i := range c.items {
		for _, e := range c.items[i].entries {
			if was, twice := attributes[e.Key]; twice && was != e.Value {
				return r, &faultError{fmt.Sprintf("two values of %q in one call: rules see all its descriptors as one request", e.Key)}
			}
			attributes[e.Key] = e.Value
			if e.Key == "remote_address" {
				r.IP, _ = netip.ParseAddr(e.Value)
			}
		}
	}
	return r, nil
}

// ownCost returns the highest cost that a descriptor has, and whether all are to be given
// back.
func (c *call) ownCost() (cost int64, refund bool) {
	refund = true
	for i := range c.items {
		cost = max(cost, c.items[i].cost)
		refund = refund && c.items[i].refund
	}
	return cost, refund
}
