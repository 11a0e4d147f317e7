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
	known   sync.Map     // *rule.Compiled → []*policy: of its limits, then of each override
	size    atomic.Int64
}

// find returns the policy and the limit that d speaks of, or nil.
func (p *policies) find(d *engine.Decision) (*policy, *shown) {
	found, ok := p.known.Load(d.Rule)
	if !ok {
		found = p.learn(d.Rule)
	}
	all := found.([]*policy)
	if len(all) == 1 && len(all[0].limits) == 1 && d.LimitName != "" {
		return all[0], &all[0].limits[0]
	}
	for _, one := range all {
		if l := one.find(&d.Decision); l != nil {
			return one, l
		}
	}
	return nil, nil // no limit has refused it
}

// learn describes a rule. Rules of sets that are long gone are forgotten.
func (p *policies) learn(c *rule.Compiled) []*policy {
	if p.size.Add(1) > 2*int64(len(p.engine.Set().Rules()))+64 {
		p.known.Clear()
		p.size.Store(1)
	}
	dialect := c.Headers
	if dialect == "" {
		dialect = p.dialect
	}
	all := []*policy{ofLimits(dialect, c.Name, c.Limits)}
	for _, o := range c.Overrides {
		all = append(all, ofLimits(dialect, c.Name, o.Limits))
	}
	p.known.Store(c, all)
	return all
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
