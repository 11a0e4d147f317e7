package engine

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// Explanation is what Explain tells.
type Explanation struct {
	Decision Decision // what Check would say
	Path     string   // in canonical form
	// Calls is how many calls of the cluster's store the decision takes; 0 if it has no
	// limits there. More than 1 means that its keys lie in several slots of a Redis
	// Cluster: what the first calls spend is given back if a later one denies, but others
	// can see it for a moment. Rules with the same tag keep their keys together.
	Calls int
	Rules []RuleExplanation
}

// RuleExplanation is what one rule has to do with a request.
type RuleExplanation struct {
	Rule    string
	Matches bool
	Why     string
	Key     string
	Mode    rule.Mode // in force for this key: rollout and the shadow switch included
	Cost    int64
	Limits  []LimitExplanation
}

// LimitExplanation is the state of one limit, as the request would find it.
type LimitExplanation struct {
	Name       string
	Limit      sluice.Limit
	Scope      rule.Scope
	Candidate  bool
	Allowed    bool // by this limit, whatever the others say
	Reason     sluice.Reason
	Remaining  int64 // what would be left after the request, or is left if it is refused
	InFlight   int64 // of a concurrency limit: how many permits are held
	RetryAfter time.Duration
	ResetAfter time.Duration
	Wait       time.Duration // for how long it would hold the request
	Degraded   bool          // the store could not be asked
}

// Explain tells what would happen to r and why, rule by rule, and spends nothing: see
// [Engine.Peek]. Sliding logs of one rule and scope are one log, and each of them
// tells what that says.
func (e *Engine) Explain(ctx context.Context, r Request) (*Explanation, error) {
	c := e.begin(&r)
	defer e.end(c)
	c.match(e)
	e.decide(ctx, c, &terms{op: store.Spend, peek: true, within: forever})
	if c.event.Err != nil {
		return nil, c.event.Err
	}
	x := &Explanation{Decision: c.event.Decision, Path: c.matches.Path, Calls: e.places.calls(c.batches[cluster].checks)}
	if c.state.permits {
		x.Calls += e.places.calls(c.batches[clusterPermits].checks)
	}
	for _, reason := range c.state.set.Explain(&c.req) {
		x.Rules = append(x.Rules, c.explain(reason))
	}
	return x, nil
}

// explain tells of one rule.
func (c *call) explain(reason rule.Reason) RuleExplanation {
	x := RuleExplanation{Rule: reason.Rule.Name, Matches: reason.Matches, Why: reason.Why, Mode: reason.Rule.Mode}
	if c.shadow && x.Mode != rule.Off {
		x.Mode = rule.Shadow
	}
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		if h.Rule != reason.Rule {
			continue
		}
		x.Key, x.Cost, x.Mode = string(h.Key), h.Cost, rule.Shadow
		if c.enforces(h) {
			x.Mode = rule.Enforce
		}
		x.Limits = c.explainLimits(i)
	}
	return x
}

// scopeNames are the scopes by their number.
var scopeNames = [scopes]rule.Scope{rule.Cluster, rule.Instance, rule.Split, rule.Cluster, rule.Instance}

// explainLimits tells of all limits of a rule that matched.
func (c *call) explainLimits(hit int) []LimitExplanation {
	var all []LimitExplanation
	for scope := range c.used() {
		b := &c.batches[scope]
		for i := range b.parts {
			p := &b.parts[i]
			if p.hit != hit || !b.asked {
				continue
			}
			h := &c.matches.Hits[hit]
			names := h.Limits.Names[scope]
			if p.role == candidates {
				names = namesOf(h.Rule.Candidate, scope)
			}
			for n, l := range p.plan.Limits() {
				x := explainLimit(l, &b.checks[p.from+specOf(p.plan, n)])
				if x.Scope, x.Candidate = scopeNames[scope], p.role == candidates; n < len(names) {
					x.Name = names[n]
				}
				all = append(all, x)
			}
		}
	}
	return all
}

// namesOf returns the names of those limits that stand in one place.
func namesOf(limits []rule.Limit, place int) []string {
	var names []string
	for _, l := range limits {
		if l.Place() == place {
			names = append(names, l.Name)
		}
	}
	return names
}

// specOf returns which spec of a plan stands for its limit number n: all sliding logs
// share the first one's.
func specOf(p *sluice.Plan, n int) int {
	at, log := -1, -1
	for _, l := range p.Limits()[:n+1] {
		if l.Algorithm != sluice.SlidingLog || l.Count == 0 || log < 0 {
			at++
		}
		if l.Algorithm == sluice.SlidingLog && l.Count > 0 && log < 0 {
			log = at
		}
	}
	if l := p.Limits()[n]; l.Algorithm == sluice.SlidingLog && l.Count > 0 {
		return log
	}
	return at
}

// explainLimit reads what a store said of one limit.
func explainLimit(l sluice.Limit, c *store.Check) LimitExplanation {
	v, spec := c.Verdict, c.Spec
	x := LimitExplanation{
		Limit: l, Allowed: v.Allowed, Remaining: spec.Remaining(v), Degraded: c.Degraded,
		RetryAfter: time.Duration(spec.RetryAfter(v)) * time.Microsecond,
		ResetAfter: time.Duration(spec.ResetAfter(v)) * time.Microsecond,
		Wait:       time.Duration(v.Wait) * time.Microsecond,
	}
	if spec.Kind == algo.Concurrency && !c.Blind {
		x.InFlight = inFlight(c)
	}
	switch {
	case v.Allowed:
	case spec.Kind == algo.Ban:
		x.Reason = sluice.Banned
	case v.Never:
		x.Reason = sluice.Never
	case c.Blind:
		x.Reason = sluice.Unavailable
	default:
		x.Reason = sluice.Limited
	}
	return x
}
