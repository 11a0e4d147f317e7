package httplimit

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// policies are what clients are told of rules, written down when a rule first binds.
type policies struct {
	engine  *engine.Engine
	dialect rule.Headers // of rules that name none
	plans   sync.Map     // *sluice.Plan → *told
	rules   sync.Map     // *rule.Compiled → []*policy: of its limits, then of each override
	size    atomic.Int64 // of plans
}

// told is what clients are told of the limits of a plan: a part of those of a rule, or
// of one of its overrides.
type told struct {
	policy *policy
	limits []*shown // by their number in the plan
}

// find returns the policy and the limit that d speaks of, or nil if no limit bound, or
// nobody could look at it.
func (p *policies) find(d *engine.Decision) (*policy, *shown) {
	plan := d.Plan()
	if plan == nil || d.Blind {
		return nil, nil
	}
	found, ok := p.plans.Load(plan)
	if !ok {
		found = p.learn(d.Rule, plan)
	}
	t := found.(*told)
	if t.policy == nil {
		return nil, nil
	}
	return t.policy, t.limits[d.Index()]
}

// learn describes a plan of a rule. Those of sets that are long gone are forgotten.
func (p *policies) learn(c *rule.Compiled, plan *sluice.Plan) *told {
	if p.size.Add(1) > p.most() {
		p.plans.Clear()
		p.rules.Clear()
		p.size.Store(1)
	}
	t, limits := new(told), plan.Limits()
	for _, one := range p.ofRule(c) {
		if t.take(one, limits) {
			break
		}
	}
	p.plans.Store(plan, t)
	return t
}

// most is how many plans are remembered: several times those of the rules in force.
func (p *policies) most() int64 {
	n := 64
	for _, c := range p.engine.Set().Rules() {
		n += 4 * (1 + len(c.Overrides))
	}
	return int64(n)
}

// ofRule describes a rule.
func (p *policies) ofRule(c *rule.Compiled) []*policy {
	if all, ok := p.rules.Load(c); ok {
		return all.([]*policy)
	}
	dialect := c.Headers
	if dialect == "" {
		dialect = p.dialect
	}
	all := []*policy{ofLimits(dialect, c.Name, c.Limits)}
	for _, o := range c.Overrides {
		all = append(all, ofLimits(dialect, c.Name, o.Limits))
	}
	p.rules.Store(c, all)
	return all
}

// take finds the limits of a plan in a policy. It reports whether all of them are
// there.
func (t *told) take(p *policy, limits []sluice.Limit) bool {
	found := make([]*shown, len(limits))
	for i, limit := range limits {
		for j := range p.limits {
			if p.limits[j].limit == limit {
				found[i] = &p.limits[j]
				break
			}
		}
		if found[i] == nil {
			return false
		}
	}
	t.policy, t.limits = p, found
	return true
}

// ofLimits describes limits of a rule. Names that do not tell them apart get the
// limit's text as well.
func ofLimits(dialect rule.Headers, ruleName string, limits []rule.Limit) *policy {
	names, plain := make([]string, len(limits)), make([]sluice.Limit, len(limits))
	count := map[string]int{}
	for i, l := range limits {
		if names[i], plain[i] = l.Name, l.Limit; l.Name == "" {
			names[i] = ruleName
		}
		count[names[i]]++
	}
	for i, l := range limits {
		if count[names[i]] > 1 {
			names[i] += ":" + l.Limit.String()
		}
	}
	if plans, err := sluice.NewPlans(time.Unix(0, 0), plain); err == nil {
		plain = plans[0].Limits() // as decisions show them
	}
	return newPolicy(dialect, names, plain)
}
