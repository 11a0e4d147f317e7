package engine

import (
	"math"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// sum makes one decision of the stores' answers, and says what each rule said.
func (c *call) sum(t *terms) {
	s := summary{least: math.MaxInt64, waits: true, allowed: true}
	for _, scope := range order {
		b := &c.batches[scope]
		for i := range b.parts {
			p := &b.parts[i]
			o := &c.event.Outcomes[p.hit]
			switch {
			case !b.asked:
				o.Undecided = o.Undecided || p.role != candidates
			case p.role == enforcing:
				s.read(t, o, b, p)
			default:
				o.read(p.role, b.checks[p.from:p.to])
			}
		}
	}
	d := &c.event.Decision
	*d = Decision{Decision: sluice.Decision{Allowed: true}}
	if s.bound != nil {
		h := &c.matches.Hits[s.bound.hit]
		d.Decision = s.in.decide(s.bound)
		d.Rule, d.LimitName = h.Rule, c.state.name(s.bound.plan, h.Limits.Names[s.in.scope], &d.Decision)
		d.Degraded = s.degraded
	}
	if d.Allowed {
		d.wait = time.Duration(s.wait) * time.Microsecond
	} else {
		d.Waits = s.waits
	}
	c.conclude(d, t.peek)
}

// summary is what enforced limits said, as far as they were read.
type summary struct {
	bound    *part  // the part that matters most
	in       *batch // where that is
	least    int64  // while all allow: how much it has left
	denial   sluice.Decision
	wait     int64
	allowed  bool
	waits    bool // asking again may help with all denials
	degraded bool
}

// read takes in what one part said. As long as all allow, the one with least left
// matters most, which is told without making a decision of each.
func (s *summary) read(t *terms, o *Outcome, b *batch, p *part) {
	allowed, least := true, s.least
	for i := p.from; i < p.to; i++ {
		c := &b.checks[i]
		allowed = allowed && c.Verdict.Allowed
		o.Degraded = o.Degraded || c.Degraded
		s.wait = max(s.wait, c.Verdict.Wait)
		if allowed && s.allowed {
			least = min(least, c.Spec.Remaining(c.Verdict))
		}
	}
	s.degraded = s.degraded || o.Degraded
	if allowed {
		if s.allowed && (s.bound == nil || least < s.least) {
			s.bound, s.in, s.least = p, b, least
		}
		return
	}
	said := b.decide(p)
	if s.allowed || said.Binds(s.denial) {
		s.bound, s.in, s.denial = p, b, said
	}
	o.Allowed, s.allowed = false, false
	s.waits = s.waits && t.helps(p, o, &said)
}

// decide returns the decision on one part.
func (b *batch) decide(p *part) sluice.Decision { return p.plan.Decide(b.checks[p.from:p.to]) }

// helps reports whether asking again may turn a denial into an allowance in time.
func (t *terms) helps(p *part, o *Outcome, said *sluice.Decision) bool {
	retry := said.RetryAfter().Microseconds()
	return said.Reason == sluice.Limited && !p.plan.Books() && retry > 0 && retry <= t.patience(o.Rule)
}

// read takes in what limits said that are not enforced.
func (o *Outcome) read(as role, checks []store.Check) {
	allowed := true
	for i := range checks {
		allowed = allowed && checks[i].Verdict.Allowed
		o.Degraded = o.Degraded || checks[i].Degraded
	}
	switch {
	case as == shadowing:
		o.Allowed = o.Allowed && allowed
	case !allowed:
		o.Candidate = CandidateDenies
	case o.Candidate == NoCandidate:
		o.Candidate = CandidateAllows
	}
}

// conclude says what follows from the decision for every rule, and from the rules in
// shadow for the decision.
func (c *call) conclude(d *Decision, peek bool) {
	d.Shadow = c.shadow && (c.matches.Ambiguous || len(c.matches.Hits) == 0 && c.state.deny)
	for i := range c.event.Outcomes {
		o := &c.event.Outcomes[i]
		o.Undecided = o.Undecided && o.Allowed
		o.Spent = d.Allowed && o.Allowed && !peek
		d.Shadow = d.Shadow || d.Allowed && !o.Allowed
	}
}
