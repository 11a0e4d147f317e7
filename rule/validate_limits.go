package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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
		if err := validateLimit(l.Limit); err != nil {
			good = false
			reportLimit(rep, place+".limit", err)
		}
	}
	if good {
		filled := filledIn(limits)
		checkPointless(rep, field, out, limits, filled)
		checkCosts(rep, field, out, filled)
	}
}

// reportLimit passes on what a limit says is wrong with it.
func reportLimit(rep report, field string, err error) {
	if e, ok := err.(*sluice.LimitError); ok {
		rep.fault(field, limitHint(e), "%q: %s: %s", e.Limit, e.Field, e.Reason)
		return
	}
	rep.fault(field, limitExample, "%v", err)
}

const limitExample = `write a rate with options, such as "100/s burst=200"`

// limitHint returns the hint of an error about a limit, or one that is always true.
func limitHint(e *sluice.LimitError) string { return cmp.Or(e.Hint, limitExample) }

// checkPointless finds limits that can never refuse anything because of another.
func checkPointless(rep report, field string, out *Compiled, limits []Limit, filled []sluice.Limit) {
	wait := time.Duration(out.Wait)
	binds := func(j, i int) bool {
		return within(limits[i].Scope, limits[j].Scope, out.OnStoreError) && dominates(filled[j], filled[i], wait)
	}
	for i := range limits {
		for j := range limits {
			if i == j || !binds(j, i) || j > i && binds(i, j) { // equal ones are told once, at the later
				continue
			}
			place := at(field, j)
			if name := limits[j].Name; name != out.Name {
				place += fmt.Sprintf(" %q", clip(name))
			}
			rep.warn(at(field, i)+".limit", "leave it out, or change one of the two",
				"%q can never bind: %s", limits[i].Limit.String(), because(place, filled[j], filled[i], wait))
			break
		}
	}
}

// within reports whether whoever shares a limit of scope a also shares one of scope
// b, so that b sees at least the same requests. While the store is down a limit of an
// instance is the last line of defence beside one of the cluster, unless that denies
// everything then.
func within(a, b Scope, down OnStoreError) bool {
	return a == b || a == Instance && b == Cluster && down == ErrorDeny
}

// because says how a limit keeps another from ever binding.
func because(place string, a, b sluice.Limit, wait time.Duration) string {
	e, ok := envelopeOf(a, wait)
	switch {
	case !ok || b.Algorithm == sluice.NoLimit || a.Count == 0:
		return fmt.Sprintf("%s (%s) decides alone", place, a)
	case b.Algorithm == sluice.TokenBucket:
		return fmt.Sprintf("%s (%s) lets no more through, at once and in the long run", place, a)
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
func checkCosts(rep report, field string, out *Compiled, limits []sluice.Limit) {
	for i, l := range limits {
		most, ok := atOnce(l)
		if !ok {
			continue
		}
		check := func(name string, cost int64) {
			if cost > most {
				rep.warn(name, "lower it, or raise the burst or the count of the limit",
					"%d is more than %s (%s) can ever admit at once", cost, at(field, i), l)
			}
		}
		check("cost.fixed", out.Cost.Fixed)
		check("cost.max", out.Cost.Max)
		for _, method := range slices.Sorted(maps.Keys(out.Cost.Methods)) {
			check(inMap("cost.methods", method), out.Cost.Methods[method])
		}
	}
}

// atOnce returns the highest cost that a limit can admit; false if there is no such.
func atOnce(l sluice.Limit) (most int64, ok bool) {
	switch l.Algorithm {
	case sluice.NoLimit, sluice.WarmUp, sluice.InFlight:
		return 0, false
	case sluice.TokenBucket:
		most = l.Burst
	case sluice.LeakyBucket:
		most = l.Burst + 1
	default:
		most = l.Count
	}
	return most, most > 0
}
