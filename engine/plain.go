package engine

import (
	"context"
	"math"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// decidePlain is decide for the everyday request: all its rules are enforced, each by one
// limit that is kept in this process and makes nobody wait (see [rule.Limits.Only]). Then
// check number i is about hit number i, and as long as all allow there is little to sum
// up, and nothing to say of a rule that its hit does not (see [Event.charged]). It reports
// whether the request was such a one; if not, nothing is done yet.
func (e *Engine) decidePlain(ctx context.Context, c *call) bool {
	if e.places.near == nil || c.shadow || !c.buildPlain() {
		return false
	}
	c.event.Err, c.event.Left, c.event.spared = nil, false, 0
	c.event.Request, c.event.Path = &c.req, c.matches.Path
	b := &c.batches[cluster]
	err := e.places.near.Take(ctx, store.Spend, b.checks)
	if err == nil && c.sumPlain() {
		c.event.charged = c.matches.Hits
		return true
	}
	c.partition()
	if c.list(); err != nil {
		e.undecided(ctx, c, &everyday, c.blame(b, err))
	} else {
		c.sum(&everyday)
	}
	return true
}

// everyday are the terms of [Engine.Check].
var everyday = terms{op: store.Spend, within: forever}

// buildPlain makes the checks. It reports false if the request is not plain, or needs
// more room than there is yet.
func (c *call) buildPlain() bool {
	hits, b := c.matches.Hits, &c.batches[cluster]
	n := len(hits)
	if n == 0 || n > cap(b.checks) || c.req.Cost < 0 {
		return false
	}
	checks := b.checks[:n]
	for i := range hits {
		h := &hits[i]
		plan := h.Limits.Only
		if plan == nil || !h.Enforced || h.Denied {
			return false
		}
		check := &checks[i]
		check.Key, check.Spec = h.KeyText(), plan.Specs()[0]
		check.Cost, check.MaxWait, check.Shadow = h.Cost, 0, false
	}
	b.checks = checks
	return true
}

// partition says what belongs to what, for those who sum up anything.
func (c *call) partition() {
	for i := range c.used() {
		b := &c.batches[i]
		b.parts, b.asked = b.parts[:0], i == cluster
	}
	b := &c.batches[cluster]
	for i := range c.matches.Hits {
		b.parts = append(b.parts, part{hit: i, plan: c.matches.Hits[i].Limits.Only, from: i, to: i + 1})
	}
	c.enforced = len(b.parts)
}

// sumPlain makes the decision, unless a limit denies.
func (c *call) sumPlain() bool {
	checks := c.batches[cluster].checks
	bound, least := 0, int64(math.MaxInt64)
	for i := range checks {
		check := &checks[i]
		if !check.Verdict.Allowed {
			return false
		}
		if len(checks) > 1 {
			// Two numbers of the verdict are all that it takes: to hand over the whole of it
			// would cost more than the division.
			v := algo.Verdict{X: check.Verdict.X, Y: check.Verdict.Y}
			if left := check.Spec.Remaining(v); left < least {
				bound, least = i, left
			}
		}
	}
	h, d := &c.matches.Hits[bound], &c.event.Decision
	h.Limits.Only.Decide(checks[bound:bound+1], &d.Decision)
	d.Rule, d.LimitName = h.Rule, limitName(h.Limits.Names[cluster], &d.Decision)
	d.Shadow, d.Waits, d.wait = false, false, 0
	return true
}
