package engine

import (
	"time"

	"github.com/sluice-limiter/sluice"
)

// denial is what a rule says that does not allow a request, by the limit that binds.
type denial struct {
	sluice.Decision
	limit string // its name
}

// Limit returns the name of the limit that did not allow the request, whether enforced
// or not. It is empty if the rule allowed it, or has no key for it.
func (o *Outcome) Limit() string {
	if o.denial == nil {
		return ""
	}
	return o.denial.limit
}

// Reason returns why the rule did not allow the request; 0 if it did.
func (o *Outcome) Reason() sluice.Reason {
	switch {
	case o.denial != nil:
		return o.denial.Reason
	case o.ambiguous:
		return sluice.Ambiguous
	case !o.Allowed && o.Key == "":
		return sluice.MissingKey
	}
	return 0
}

// RetryAfter returns when the rule would allow the request, as
// [sluice.Decision.RetryAfter] does.
func (o *Outcome) RetryAfter() time.Duration {
	if o.denial == nil {
		return 0
	}
	return o.denial.Decision.RetryAfter()
}

// deny notes that a part of a rule does not allow. Of several parts the one that
// matters most is what the rule says.
func (c *call) deny(o *Outcome, b *batch, p *part) *denial {
	c.denials = append(c.denials, denial{})
	said := &c.denials[len(c.denials)-1]
	b.decide(p, &said.Decision)
	said.limit = limitName(c.matches.Hits[p.hit].Limits.Names[b.scope], &said.Decision)
	if o.Allowed = false; o.denial == nil || said.Binds(o.denial.Decision) {
		o.denial = said
	}
	return said
}

// limitName returns the name of the limit that bound, of those that a plan was made of.
func limitName(names []string, d *sluice.Decision) string {
	if len(names) == 1 {
		return names[0]
	}
	if i := d.Index(); uint(i) < uint(len(names)) {
		return names[i]
	}
	return ""
}
