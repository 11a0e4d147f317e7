package rule

import (
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
)

// compileLimits checks the limits of a rule.
func (c *compiler) compileLimits(rep report, out *Compiled) {
	c.checkLimits(rep, "limits", out, out.Limits)
	if len(out.Candidate) > 0 {
		c.checkLimits(rep, "candidate", out, out.Candidate)
	}
	if out.Wait < 0 || time.Duration(out.Wait) > algo.MaxAhead*time.Microsecond {
		rep.fault("wait", "use up to 8784h", "%v is out of range", out.Wait)
	}
}

// checkLimits checks a list of limits, each by itself and then beside the others.
func (c *compiler) checkLimits(rep report, field string, out *Compiled, limits []Limit) {
	if len(limits) == 0 {
		rep.fault(field, `give at least one, such as "100/s"`, "no limits")
	}
	good, seen := true, map[string]int{}
	for i, l := range limits {
		place := at(field, i)
		if l.Scope != out.Scope { // else it is the rule's
			checkEnum(rep, place+".scope", l.Scope, Cluster, Instance, Split)
		}
		if l.Name != out.Name && (!isName(l.Name) || len(l.Name) > maxName) {
			rep.fault(place+".name", "use up to 128 letters, digits and _ . - /", "%q cannot be a name", clip(l.Name))
		}
		if first, dup := seen[l.Name]; dup && l.Name != out.Name {
			rep.fault(place+".name", "give every limit a name of its own", "%s has the same name", at(field, first))
		} else {
			seen[l.Name] = i
		}
		if err := l.Limit.Validate(); err != nil {
			good = false
			reportLimit(rep, place+".limit", err)
		}
	}
	if good {
		checkPointless(rep, field, limits, time.Duration(out.Wait))
		checkCosts(rep, field, out, limits)
	}
}

// reportLimit passes on what a limit says is wrong with it.
func reportLimit(rep report, field string, err error) {
	if e, ok := err.(*sluice.LimitError); ok {
		rep.fault(field, e.Hint, "%q: %s: %s", e.Limit, e.Field, e.Reason)
		return
	}
	rep.fault(field, "", "%v", err)
}

// checkPointless finds limits that can never refuse anything because of another.
func checkPointless(rep report, field string, limits []Limit, wait time.Duration) {
	filled := filledIn(limits)
	for i := range limits {
		for j := range limits {
			if i == j || !within(limits[i].Scope, limits[j].Scope) || !dominates(filled[j], filled[i], wait) {
				continue
			}
			if j > i && within(limits[j].Scope, limits[i].Scope) && dominates(filled[i], filled[j], wait) {
				continue // equal ones are told once, at the later
			}
			rep.warn(at(field, i)+".limit", "leave it out, or change one of the two",
				"%s can never bind: %s", limits[i].Limit, because(at(field, j), filled[j], filled[i], wait))
			break
		}
	}
}

// within reports whether whoever shares a limit of scope a also shares one of scope
// b, so that b sees at least the same requests.
func within(a, b Scope) bool { return a == b || a == Instance && b == Cluster }

// because says how a limit keeps another from ever binding.
func because(place string, a, b sluice.Limit, wait time.Duration) string {
	e, ok := envelopeOf(a, wait)
	switch {
	case !ok || b.Algorithm == sluice.NoLimit || a.Count == 0:
		return fmt.Sprintf("%s (%s) decides alone", place, a)
	case b.Algorithm == sluice.TokenBucket:
		return fmt.Sprintf("%s (%s) lets less through, at once and in the long run", place, a)
	}
	most := e.atMost(a, longest(b))
	if n, ok := aligned(a, b); ok {
		most = n
	}
	return fmt.Sprintf("%s (%s) lets at most %d through in that time", place, a, most)
}

// filledIn returns the limits with the defaults of their algorithms.
func filledIn(limits []Limit) []sluice.Limit {
	list := make([]sluice.Limit, len(limits))
	for i, l := range limits {
		list[i] = l.Limit
	}
	plans, err := sluice.NewPlans(time.Time{}, list)
	if err != nil {
		return list
	}
	return plans[0].Limits()
}

// checkCosts finds costs that no request can ever pay.
func checkCosts(rep report, field string, out *Compiled, limits []Limit) {
	for i, l := range filledIn(limits) {
		most := l.Count
		switch l.Algorithm {
		case sluice.NoLimit, sluice.WarmUp:
			continue
		case sluice.TokenBucket:
			most = l.Burst
		case sluice.LeakyBucket:
			most = l.Burst + 1
		}
		if most > 0 && out.Cost.Fixed > most {
			rep.warn("cost.fixed", "raise the burst or the count of the limit, or lower the cost",
				"%d is more than %s (%s) can ever admit at once", out.Cost.Fixed, at(field, i), l)
		}
		if most > 0 && out.Cost.Max > most {
			rep.warn("cost.max", "lower it, or raise the burst or the count of the limit",
				"%d is more than %s (%s) can ever admit at once", out.Cost.Max, at(field, i), l)
		}
	}
}
