package rule

import (
	"net/netip"
	"reflect"
	"slices"
	"time"
)

// checkReach finds a rule that no request can come to, since its match and its
// exemptions contradict each other.
func checkReach(rep report, out *Compiled) {
	const hint = "remove the rule, or what exempts everybody"
	if len(out.ips.list) > 0 && len(out.skipIPs.list) > 0 && everyIn(out.skipIPs.list, out.ips.list, prefixCovers) {
		rep.fault("skip.ips", hint, "the rule is unreachable: all of match.ips is exempt")
	}
	if len(out.ips.list) == 0 && coversAll(out.skipIPs) {
		rep.fault("skip.ips", hint, "the rule is unreachable: every address is exempt")
	}
	for _, t := range out.skipHeaders {
		if implies(out.headers, t) {
			rep.fault(inMap("skip.headers", t.name), hint, "the rule is unreachable: match.headers asks for what is exempt")
		}
	}
	if i := out.skipKeys.all(); i >= 0 {
		rep.fault(at("skip.keys", i), hint, "the rule is unreachable: every key is exempt")
	}
	if i := out.overrides.all(); i >= 0 {
		rep.warn(at("overrides", i)+".keys", "put its limits into the rule instead", "every key has this override, so that the rule's own limits do nothing")
	}
}

// coversAll reports whether every address is in the list.
func coversAll(p prefixes) bool {
	four := slices.ContainsFunc(p.list, func(q netip.Prefix) bool { return q.Bits() == 0 && q.Addr().Is4() })
	six := slices.ContainsFunc(p.list, func(q netip.Prefix) bool { return q.Bits() == 0 && q.Addr().Is6() })
	return four && six
}

// maxBeside bounds how many rules each is compared with.
const maxBeside = 64

// checkBeside finds rules that say the same as another, or that another keeps from
// ever binding. The index finds the few that come into question.
func (c *compiler) checkBeside() {
	for _, b := range c.core.rules {
		if b.Mode == Off {
			continue
		}
		found := c.core.nodes[0].collect(b.sample(c.core), nil)
		sortFound(found)
		found = slices.CompactFunc(found, func(p, q lead) bool { return p.rule() == q.rule() })
		for _, f := range found[:min(len(found), maxBeside)] {
			if a := c.core.rules[f.rule()]; a != b && c.checkPair(a, b) {
				break
			}
		}
	}
}

// checkPair compares a rule with one that may cover it. It reports whether there was
// something to tell.
func (c *compiler) checkPair(a, b *Compiled) bool {
	if !a.covers(b) || !sameKey(a, b) {
		return false
	}
	rep := report{&c.findings, b.Name, b.Index}
	same := b.covers(a)
	if a.bindsBefore(b) && !(same && b.Index < a.Index && b.bindsBefore(a)) {
		rep.warn("limits", "remove one of the two, or change its limits",
			"the rule can never bind: rule %q matches the same requests with the same key and lets no more through", clip(a.Name))
		return true
	}
	if same && a.Index < b.Index && reflect.DeepEqual(a.Skip, b.Skip) {
		rep.warn("match", "make one rule of the two, or tell their matches apart",
			"rule %q has the same match and key, so that a request pays in both", clip(a.Name))
		return true
	}
	return false
}

// sameKey reports whether both rules count by the same parts.
func sameKey(a, b *Compiled) bool {
	return a.Missing == b.Missing && slices.EqualFunc(a.key.parts, b.key.parts, func(p, o part) bool {
		return p.kind == o.kind && p.name == o.name && p.bits == o.bits && slices.Equal(p.segments, o.segments)
	})
}

// bindsBefore reports whether a, which covers b and has the same key, refuses
// everything that b would.
func (a *Compiled) bindsBefore(b *Compiled) bool {
	exempts := !reflect.DeepEqual(a.Skip, Skip{}) && !reflect.DeepEqual(a.Skip, b.Skip)
	if a.Mode != Enforce || a.rollout != wholeRollout || exempts || len(a.Overrides)+len(b.Overrides) > 0 || !reflect.DeepEqual(a.Cost, b.Cost) {
		return false
	}
	strict, loose := filledIn(a.Limits), filledIn(b.Limits)
	wait := time.Duration(max(a.Wait, b.Wait))
	for i := range loose {
		bound := false
		for j := range strict {
			bound = bound || a.outlasts(b, b.Limits[i].Scope, a.Limits[j].Scope) && dominates(strict[j], loose[i], wait)
		}
		if !bound {
			return false
		}
	}
	return true
}

// outlasts reports whether a limit of a, which has the scope outer, sees at least the
// requests that one of b with the scope inner sees, also while the store is down.
func (a *Compiled) outlasts(b *Compiled, inner, outer Scope) bool {
	if !within(inner, outer, a.OnStoreError) {
		return false
	}
	return inner != Cluster || strictness[a.OnStoreError] >= strictness[b.OnStoreError]
}

// strictness orders what decides while the store is down.
var strictness = map[OnStoreError]int{ErrorAllow: 0, ErrorLocal: 1, ErrorDeny: 2}
