package engine

import (
	"math"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// terms are how a request is asked.
type terms struct {
	op     store.Op
	cost   *int64 // instead of what the rules say
	id     string // of a reservation
	peek   bool   // nothing is spent: see stop
	waited time.Duration
	within int64 // the longest wait that the caller accepts, µs
}

// forever is how long somebody accepts to wait who sets no bound.
const forever = math.MaxInt64

// build makes the checks for all rules that matched.
func (c *call) build(p *places, t *terms) {
	for i := range c.batches {
		c.batches[i].clear()
	}
	c.keys = c.keys[:0]
	if t.peek {
		c.halt(p)
	}
	hits, later := c.matches.Hits, false
	for i := range hits {
		h := &hits[i]
		switch {
		case h.Denied:
			continue
		case c.enforces(h):
			c.add(p, t, i, &h.Limits.Enforce, enforcing)
		default:
			later = true
		}
		for _, plan := range h.Limits.Candidate {
			later = later || plan != nil
		}
	}
	for i := range c.batches {
		c.batches[i].enforced = len(c.batches[i].checks)
	}
	if later {
		c.addOthers(p, t)
	}
}

// addOthers adds what is not enforced.
func (c *call) addOthers(p *places, t *terms) {
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		if h.Denied {
			continue
		}
		if !c.enforces(h) {
			c.add(p, t, i, &h.Limits.Enforce, shadowing)
		}
		c.add(p, t, i, &h.Limits.Candidate, candidates)
	}
}

// add makes the checks of one rule, each in the batch of its scope.
func (c *call) add(p *places, t *terms, i int, plans *[scopes]*sluice.Plan, as role) {
	h := &c.matches.Hits[i]
	for scope, plan := range plans {
		if plan == nil {
			continue
		}
		b, far := &c.batches[scope], p.far(scope)
		key, cost, wait := c.key(i, far || t.op != store.Spend), h.Cost, int64(0)
		if t.cost != nil {
			cost = *t.cost
		}
		if plan.Books() {
			wait = t.patience(h.Rule)
		}
		from := len(b.checks)
		for _, spec := range plan.Specs() {
			check := b.next()
			check.Key, check.Spec, check.Cost, check.MaxWait, check.Shadow = key, spec, cost, wait, as != enforcing
			if t.id != "" {
				check.ID, check.Hold = t.id, sluice.Hold.Microseconds()
			}
			if far {
				b.policies = append(b.policies, policyOf(h.Rule))
			}
		}
		b.parts = append(b.parts, part{hit: i, plan: plan, role: as, from: from, to: len(b.checks)})
	}
}

// patience returns for how long a request may still be held by a rule, in µs.
func (t *terms) patience(r *rule.Compiled) int64 {
	if r.Wait == 0 {
		return 0
	}
	return max(0, min((time.Duration(r.Wait)-t.waited).Microseconds(), t.within))
}
