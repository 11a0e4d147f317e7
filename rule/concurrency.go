package rule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Concurrency returns a limit of n requests at the same time, for [Limit.Limit]. In text
// it is "concurrency 4". Every request takes one permit, whatever its cost, and gives it
// back when it is over: see engine.Enter.
func Concurrency(n int64) sluice.Limit { return sluice.Limit{Algorithm: sluice.InFlight, Count: n} }

// ParseLimit reads what sluice.Parse reads, and "concurrency 4", which is no rate: only
// rules take it. The error is a *sluice.LimitError.
func ParseLimit(text string) (sluice.Limit, error) {
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != string(sluice.InFlight) {
		return sluice.Parse(text)
	}
	wrong := func(field, reason, hint string) error {
		return &sluice.LimitError{Limit: clip(text), Field: field, Reason: reason, Hint: hint}
	}
	if len(words) == 1 {
		return sluice.Limit{}, wrong("count", "missing", "say how many at the same time: concurrency 4")
	}
	if count, _, rate := strings.Cut(words[1], "/"); rate {
		return sluice.Limit{}, wrong("period", "does not apply: it counts who is in flight, not how often", "write concurrency "+clip(count))
	}
	n, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return sluice.Limit{}, wrong("count", strconv.Quote(clip(words[1]))+" is no whole number from 1 to 1e15", "say how many at the same time: concurrency 4")
	}
	if len(words) > 2 {
		field, _, _ := strings.Cut(words[2], "=")
		return sluice.Limit{}, wrong(clip(field), "does not apply to concurrency, which has no options", "write concurrency "+words[1])
	}
	return Concurrency(n), validateLimit(Concurrency(n))
}

// validateLimit reports what is wrong with a limit of a rule.
func validateLimit(l sluice.Limit) error {
	if l.Algorithm != sluice.InFlight {
		return l.Validate()
	}
	_, err := sluice.NewPlans(time.Time{}, []sluice.Limit{l})
	return err
}

// Places of [Limits]: one for every scope, by [Scope.Index], and those of permits.
const (
	ClusterPermits  = 3 // limits of concurrency with the scope cluster
	InstancePermits = 4
	Places          = 5
)

// Place returns where the plan of the limit stands in [Limits].
func (l Limit) Place() int {
	switch {
	case l.Limit.Algorithm != sluice.InFlight:
		return l.Scope.Index()
	case l.Scope == Instance:
		return InstancePermits
	}
	return ClusterPermits
}

// HasConcurrency reports whether a rule that is not off has a limit of concurrency, so
// that requests have to be let in and out: see engine.Enter.
func (s *Set) HasConcurrency() bool { return s.concurrency }

// HasConcurrency reports whether the rule has a limit of concurrency, for any key.
func (c *Compiled) HasConcurrency() bool {
	return hasConcurrency(c.Limits) || hasConcurrency(c.Candidate) ||
		slices.ContainsFunc(c.Overrides, func(o Override) bool { return hasConcurrency(o.Limits) })
}

func hasConcurrency(limits []Limit) bool { return slices.ContainsFunc(limits, isConcurrency) }

func isConcurrency(l Limit) bool { return l.Limit.Algorithm == sluice.InFlight }

// checkConcurrency finds what means nothing beside limits of concurrency.
func checkConcurrency(rep report, written Rule, out *Compiled) {
	if !out.HasConcurrency() {
		return
	}
	checkScopes(rep, "limits", out.Limits)
	checkScopes(rep, "candidate", out.Candidate)
	for i, o := range out.Overrides {
		checkScopes(rep, at("overrides", i)+".limits", o.Limits)
	}
	if out.Wait > 0 {
		rep.fault("wait", "leave it out, or write the concurrency into a rule of its own",
			"nobody can say when a permit of a concurrency limit will be free")
	}
	if !out.hasRate() && !written.Cost.isZero() {
		rep.fault("cost", "leave it out", "does nothing: a request takes one permit of a concurrency limit, whatever it costs")
	}
}

// tellConcurrency reports limits of concurrency to who wants to know of them.
func (c *compiler) tellConcurrency(rep report, out *Compiled) {
	about := c.aboutConcurrency
	if about == nil || out.Mode == Off {
		return
	}
	tell := func(field string, limits []Limit) {
		for i, l := range limits {
			if isConcurrency(l) {
				rep.fault(at(field, i)+".limit", about.Hint, "%s", about.Reason)
				(*rep.findings)[len(*rep.findings)-1].Warning = about.Warning
			}
		}
	}
	tell("limits", out.Limits)
	tell("candidate", out.Candidate)
	for i, o := range out.Overrides {
		tell(at("overrides", i)+".limits", o.Limits)
	}
}

// checkScopes finds limits of concurrency that would have to be divided.
func checkScopes(rep report, field string, limits []Limit) {
	for i, l := range limits {
		if isConcurrency(l) && l.Scope == Split {
			rep.fault(at(field, i)+".scope", "use cluster, or instance for each process by itself",
				"concurrency cannot be split: permits that one instance does not use would be of no use to the others")
		}
	}
}

// hasRate reports whether some requests are charged their cost.
func (c *Compiled) hasRate() bool {
	rate := func(l Limit) bool { return !isConcurrency(l) }
	return slices.ContainsFunc(c.Limits, rate) || slices.ContainsFunc(c.Candidate, rate) ||
		slices.ContainsFunc(c.Overrides, func(o Override) bool { return slices.ContainsFunc(o.Limits, rate) })
}

func (c Cost) isZero() bool {
	return c.Fixed == 0 && c.Methods == nil && c.Bytes == 0 && c.Header == "" && c.Max == 0 && c.Response == ""
}
