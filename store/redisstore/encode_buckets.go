package redisstore

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// group is a run of equal requests, each of the same key or each of the next: keys
// that are new have consecutive numbers.
type group struct {
	specs       int // place of the first
	limits      int // how many specs, one after the other; 0 is one, a window
	firm        int // how many of them are no shadows
	key         int
	count, step int
	cost, wait  int64
}

// encodeBuckets packs requests that ask one or a few token buckets of one key, or one
// fixed window, and reports whether there was nothing else, and no key with other
// limits than before.
func (e *encoder) encodeBuckets(decisions []*decision) bool {
	var g group
	for _, d := range decisions {
		window := oneWindow(d)
		if !window && !onlyBuckets(d) {
			return false
		}
		c := &d.checks[0]
		one := group{specs: e.row(d.checks), limits: len(d.checks), firm: d.firm(), count: 1, cost: c.Cost, wait: patience(c)}
		if window {
			one.limits = 0
		}
		one.key = e.key(e.names.state(c.Key, c.Spec))
		if one.key > len(e.rows) {
			e.rows = append(e.rows, one.specs)
		} else if e.rows[one.key-1] != one.specs {
			return false
		}
		added := g.add(one)
		if !added {
			e.group(g)
			g = one
		}
		d.repeat = added && g.step == 0
	}
	e.group(g)
	return true
}

// mostLimits is how many limits a request of this sort may ask.
const mostLimits = 8

// onlyBuckets tells whether a decision asks nothing but different token buckets of
// one key, for the same cost and with the same patience, and not all of them as
// shadows.
func onlyBuckets(d *decision) bool {
	if d.op != store.Spend || len(d.checks) == 0 || len(d.checks) > mostLimits || d.denied || d.firm() == 0 {
		return false
	}
	for i := range d.checks {
		c, first := &d.checks[i], &d.checks[0]
		if c.Spec.Kind != algo.TokenBucket || c.Key != first.Key || c.Cost != first.Cost || patience(c) != patience(first) {
			return false
		}
		for j := range i {
			if d.checks[j].Spec.Shape() == c.Spec.Shape() {
				return false
			}
		}
	}
	return true
}

// oneWindow tells whether a decision asks one fixed window whose bounds follow from
// the clock.
func oneWindow(d *decision) bool {
	if d.op != store.Spend || len(d.checks) != 1 || d.denied {
		return false
	}
	p := d.checks[0].Spec
	return p.Kind == algo.FixedWindow && p.Bounds == nil
}

// row returns the place of the specs of all checks, which stand one after the other.
func (e *encoder) row(checks []store.Check) int {
	for i := 0; i+len(checks) <= len(e.specs); i++ {
		if slices.EqualFunc(e.specs[i:i+len(checks)], checks, func(p *algo.Spec, c store.Check) bool { return p == c.Spec }) {
			return e.at[i]
		}
	}
	at := len(e.text) + 1
	for i := range checks {
		e.addSpec(checks[i].Spec)
	}
	return at
}

// add makes a group longer by a request, if it fits.
func (g *group) add(one group) bool {
	if g.specs != one.specs || g.limits != one.limits || g.firm != one.firm || g.cost != one.cost || g.wait != one.wait {
		return false
	}
	step := one.key - g.key - g.step*(g.count-1)
	if step != 0 && step != 1 || g.count > 1 && step != g.step {
		return false
	}
	g.count, g.step = g.count+1, step
	return true
}

func (e *encoder) group(g group) {
	if g.count == 0 {
		return
	}
	e.put32(g.specs)
	e.body = append(e.body, byte(g.limits), byte(g.firm))
	e.put16(g.key)
	e.put16(g.count)
	e.body = append(e.body, byte(g.step))
	e.put(g.cost)
	e.put(g.wait)
}
