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
	owner  string // takes permits; without one, we only look whether there are any
	inside bool   // permits are not asked for: there are some
	peek   bool   // nothing is spent: see stop
	waited time.Duration
	within int64 // the longest wait that the caller accepts, µs
}

// forever is how long somebody accepts to wait who sets no bound.
const forever = math.MaxInt64

// hold is for how long a reservation can be settled, µs.
const hold = int64(sluice.Hold / time.Microsecond)

// build makes the checks for all rules that matched.
func (c *call) build(p *places, t *terms) {
	for i := range c.used() {
		c.batches[i].clear()
	}
	c.keys, c.enforced, c.reach = c.keys[:0], 0, c.reaches(t)
	if t.peek {
		c.halt(p)
	}
	later := false
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		l := h.Limits
		switch {
		case h.Denied:
			continue
		case c.enforces(h):
			c.enforced += c.add(p, t, i, &l.Enforce, enforcing)
		default:
			later = true
		}
		later = later || l.Candidate[cluster] != nil || l.Candidate[instance] != nil || l.Candidate[divided] != nil ||
			l.Candidate[clusterPermits] != nil || l.Candidate[instancePermits] != nil
	}
	for i := range c.used() {
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

// add makes the checks of one rule, each in the batch of its scope. It returns how many
// parts that are.
func (c *call) add(p *places, t *terms, i int, plans *[scopes]*sluice.Plan, as role) (parts int) {
	h := &c.matches.Hits[i]
	cost := h.Cost
	if t.cost != nil {
		cost = *t.cost
	}
	for scope, plan := range plans[:c.reach] {
		if plan == nil {
			continue
		}
		b, far := &c.batches[scope], p.far(scope)
		key, wait, from := h.KeyText(), int64(0), len(b.checks)
		if far || t.op != store.Spend || t.owner != "" {
			key = c.keep(i)
		}
		if h.Rule.Wait > 0 && plan.Books() {
			wait = t.patience(h.Rule)
		}
		for _, spec := range plan.Specs() {
			check := b.next()
			if far {
				*check = store.Check{} // those in this process write every answer whole
				b.policies = append(b.policies, policyOf(h.Rule))
			}
			check.Key, check.Spec, check.Cost, check.MaxWait = key, spec, cost, wait
			check.ID, check.Hold, check.Shadow = t.id, hold, as != enforcing
		}
		if scope >= rates {
			t.ask(b.checks[from:], far)
		}
		part := b.nextPart()
		part.hit, part.plan, part.role, part.from, part.to = i, plan, as, from, len(b.checks)
		parts++
	}
	return parts
}

// patience returns for how long a request may still be held by a rule, in µs.
func (t *terms) patience(r *rule.Compiled) int64 {
	if r.Wait == 0 {
		return 0
	}
	return max(0, min((time.Duration(r.Wait)-t.waited).Microseconds(), t.within))
}
