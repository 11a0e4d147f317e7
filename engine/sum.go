package engine

import (
	"math"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// sum makes one decision of the stores' answers, and says what each rule said.
func (c *call) sum(t *terms) {
	s := summary{several: c.enforced > 1, least: math.MaxInt64, waits: true}
	for _, scope := range c.state.order() {
		b := &c.batches[scope]
		for i := range b.parts {
			p := &b.parts[i]
			o := &c.event.Outcomes[p.hit]
			switch {
			case !b.asked:
				o.Undecided = o.Undecided || p.role != candidates
			case p.role == enforcing:
				c.read(&s, t, o, b, p)
			case p.role == shadowing:
				c.readShadow(o, b, p)
			default:
				o.readCandidate(b.checks[p.from:p.to])
			}
		}
	}
	c.conclude(&s, t.peek)
}

// summary is what enforced limits said, as far as they were read.
type summary struct {
	several  bool    // there are several parts to choose from
	bound    *part   // the part that matters most
	in       *batch  // where that is
	least    int64   // while all allow: how much it has left
	denial   *denial // what it says; nil while all allow
	wait     int64
	waits    bool // asking again may help with all denials
	degraded bool
}

// read takes in what an enforced part said. As long as all allow, the one with least
// left matters most, which is told without making a decision of each.
func (c *call) read(s *summary, t *terms, o *Outcome, b *batch, p *part) {
	allowed, least := true, int64(math.MaxInt64)
	for i := p.from; i < p.to; i++ {
		check := &b.checks[i]
		allowed = allowed && check.Verdict.Allowed
		o.Degraded = o.Degraded || check.Degraded
		s.wait = max(s.wait, check.Verdict.Wait)
		if s.several && allowed && s.denial == nil {
			least = min(least, check.Spec.Remaining(check.Verdict))
		}
	}
	s.degraded = s.degraded || o.Degraded
	switch {
	case !allowed:
		said := c.deny(o, b, p)
		if s.waits = s.waits && t.helps(p, o, said); s.denial == nil || said.Binds(s.denial.Decision) {
			s.bound, s.in, s.denial = p, b, said
		}
	case s.denial == nil && (s.bound == nil || least < s.least):
		s.bound, s.in, s.least = p, b, least
	}
}

// readShadow takes in what a part said that would be enforced, but for its mode. What
// was decided without any store says nothing of its limits: see [store.Check.Blind].
func (c *call) readShadow(o *Outcome, b *batch, p *part) {
	checks := b.checks[p.from:p.to]
	allowed, blind := o.look(checks)
	switch {
	case blind:
		o.Undecided = true
	case !allowed:
		c.deny(o, b, p)
	}
}

// readCandidate takes in what candidate limits said.
func (o *Outcome) readCandidate(checks []store.Check) {
	switch allowed, blind := o.look(checks); {
	case blind:
	case !allowed:
		o.Candidate = CandidateDenies
	case o.Candidate == NoCandidate:
		o.Candidate = CandidateAllows
	}
}

// look reports whether all checks allow, and whether one was decided blindly.
func (o *Outcome) look(checks []store.Check) (allowed, blind bool) {
	allowed = true
	for i := range checks {
		allowed = allowed && checks[i].Verdict.Allowed
		blind = blind || checks[i].Blind
		o.Degraded = o.Degraded || checks[i].Degraded
	}
	return allowed, blind
}

// decide makes the decision on one part.
func (b *batch) decide(p *part, d *sluice.Decision) { p.plan.Decide(b.checks[p.from:p.to], d) }

// helps reports whether asking again may turn a denial into an allowance in time.
func (t *terms) helps(p *part, o *Outcome, said *denial) bool {
	if said.Reason != sluice.Limited || p.plan.Books() {
		return false
	}
	retry := said.RetryAfter().Microseconds()
	return retry > 0 && retry <= t.patience(o.Rule)
}

// conclude makes the decision, and says what follows from it for every rule and from
// the rules in shadow for it.
func (c *call) conclude(s *summary, peek bool) {
	d := &c.event.Decision
	*d = Decision{}
	switch {
	case s.denial != nil:
		d.Decision, d.LimitName, d.Waits = s.denial.Decision, s.denial.limit, s.waits
	case s.bound != nil:
		s.in.decide(s.bound, &d.Decision)
		d.wait = time.Duration(s.wait) * time.Microsecond
		d.LimitName = limitName(c.matches.Hits[s.bound.hit].Limits.Names[s.in.scope], &d.Decision)
	default:
		d.Allowed = true
	}
	if s.bound != nil {
		d.Rule, d.Degraded = c.matches.Hits[s.bound.hit].Rule, s.degraded
	}
	if c.shadow {
		c.event.spared = c.spared()
		d.Shadow = c.event.spared != 0
	}
	for i := range c.event.Outcomes {
		o := &c.event.Outcomes[i]
		o.Undecided = o.Undecided && o.Allowed
		o.Spent = d.Allowed && o.Allowed && !o.Undecided && !peek
		d.Shadow = d.Shadow || d.Allowed && !o.Allowed
	}
}
