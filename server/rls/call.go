package rls

import (
	"context"
	"fmt"
	"math"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/store"
)

// Bounds of a request.
const (
	maxDescriptors = 128
	maxEntries     = 64 // of a descriptor
)

// call is all the memory that a request needs. It is used again.
type call struct {
	service *Service
	request *pb.RateLimitRequest

	items      []item // one for each descriptor
	entries    []envoy.Entry
	requests   []engine.Request    // what the engine is asked
	attributes []map[string]string // of them
	answers    []engine.Decision   // to them
	checks     []store.Check       // what the store is asked about limits of the request itself
	asked      []int               // the items of those
	quotas     bool                // some item is in quota mode
	several    bool                // and another too: they refuse only together
	denied     bool
}

// item is one descriptor.
type item struct {
	entries  []envoy.Entry
	leaf     *envoy.Leaf   // nil: nothing is limited
	override *sluice.Plan  // the limit that the request itself brings
	key      string        // for that
	per      envoy.Unit    // of that
	times    uint32        // so many of the unit
	cost     int64         // 0 only looks
	own      bool          // the descriptor brings its cost
	refund   bool          // the cost is given back
	quota    bool          // alone it does not refuse
	wanted   bool          // it is part of the next question to the engine
	part     int           // which part; -1: none
	taken    bool          // the override is charged
	over     bool          // it does not allow
	heard    bool          // the engine was asked
	told     bool          // the figures below are known
	limit    sluice.Limit  // that bound
	name     string        // of it
	left     int64         // what it would still admit
	reset    time.Duration // until more is there, or all of it
}

// limited reports whether the item has a limit that is asked.
func (i *item) limited() bool {
	return i.override != nil || i.leaf != nil && !i.leaf.Unlimited
}

// decided reports whether the engine decides the item.
func (i *item) decided() bool { return i.limited() && i.override == nil }

// looks reports whether the item only looks.
func (i *item) looks() bool { return i.limited() && !i.refund && i.cost == 0 }

// spends reports whether the item takes something.
func (i *item) spends() bool { return i.limited() && !i.refund && i.cost > 0 }

// decide decides the request.
func (c *call) decide(ctx context.Context) error {
	r := c.request
	c.denied, c.quotas, c.several = false, false, false
	if r.GetDomain() == "" {
		return &faultError{"the domain is empty"}
	}
	if n := len(r.GetDescriptors()); n == 0 || n > maxDescriptors {
		return &faultError{fmt.Sprintf("%d descriptors: there have to be 1 to %d", n, maxDescriptors)}
	}
	for _, d := range r.GetDescriptors() {
		if err := c.read(d); err != nil {
			return err
		}
	}
	tree := c.service.options.Tree()
	if _, known := tree.Find(r.GetDomain(), nil); !known {
		return c.decideOwn(ctx)
	}
	if err := c.find(tree); err != nil {
		return err
	}
	return c.decideTree(ctx)
}

// read takes a descriptor in.
func (c *call) read(d *ratelimitv3.RateLimitDescriptor) error {
	if n := len(d.GetEntries()); n == 0 || n > maxEntries {
		return &faultError{fmt.Sprintf("%d entries in a descriptor: there have to be 1 to %d", n, maxEntries)}
	}
	from := len(c.entries)
	for _, e := range d.GetEntries() {
		if e.GetKey() == "" {
			return &faultError{"an entry of a descriptor has no key"}
		}
		c.entries = append(c.entries, envoy.Entry{Key: e.GetKey(), Value: e.GetValue()})
	}
	it := item{part: -1, entries: c.entries[from:len(c.entries):len(c.entries)], cost: max(1, int64(c.request.GetHitsAddend())), refund: d.GetIsNegativeHits()}
	if hits := d.GetHitsAddend(); hits != nil {
		it.cost, it.own = int64(min(hits.GetValue(), uint64(algo.MaxCount))), true
	}
	c.items = append(c.items, it)
	return nil
}

// find looks up the limits of all items, and drops those that others replace.
func (c *call) find(tree *envoy.Tree) error {
	replaced := false
	for i := range c.items {
		it, d := &c.items[i], c.request.GetDescriptors()[i]
		if d.GetLimit() != nil {
			if err := c.findOverride(it, d.GetLimit()); err != nil {
				return err
			}
			continue
		}
		it.leaf, _ = tree.Find(c.request.GetDomain(), it.entries)
		if it.leaf != nil {
			it.quota = (it.leaf.Quota || c.service.options.Quota) && !it.leaf.Shadow && !it.leaf.Unlimited
			c.quotas = c.quotas || it.quota
			replaced = replaced || len(it.leaf.Replaces) > 0
		}
	}
	if replaced {
		c.replace()
	}
	return nil
}

// replace drops the limits that another one of the same request replaces.
func (c *call) replace() {
	gone := map[string]bool{}
	for i := range c.items {
		if leaf := c.items[i].leaf; leaf != nil {
			for _, name := range leaf.Replaces {
				gone[name] = true
			}
		}
	}
	for i := range c.items {
		if it := &c.items[i]; it.leaf != nil && !it.leaf.Unlimited && gone[it.leaf.Name] {
			it.leaf, it.quota = nil, false
		}
	}
}

// remaining returns what is left as the wire has it.
func (i *item) remaining() uint32 { return uint32(min(max(i.left, 0), math.MaxUint32)) }
