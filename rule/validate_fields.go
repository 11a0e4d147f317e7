package rule

import (
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
)

// checkFields finds fields that do nothing beside the others. That is an error, save
// where it comes from turning a rule off or to shadow: nobody should have to rewrite
// a rule in the middle of an incident.
func checkFields(rep report, written Rule, out *Compiled) {
	if len(written.Key) == 0 {
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"missing", written.Missing != ""},
			{"hash", written.Hash},
			{"rollout", written.Rollout != ""},
		} {
			if f.set {
				rep.fault(f.name, "give the rule a key, or leave it out", "does nothing without a key")
			}
		}
	}
	if written.OnStoreError != "" && !out.hasScope(Cluster) {
		rep.fault("on_store_error", "leave it out", "does nothing: no limit has the scope cluster")
	}
	if out.Mode == Off || out.Mode == Shadow {
		checkUnenforced(rep, written, out.Mode)
	}
	checkWait(rep, out)
	checkTwice(rep, "match.methods", written.Match.Methods)
	checkTwice(rep, "match.hosts", out.hosts.list)
	shapes := make([]string, len(out.paths.list))
	for i := range shapes {
		shapes[i] = out.paths.list[i].shape()
	}
	checkTwice(rep, "match.paths", shapes)
	checkTwice(rep, "match.ips", written.Match.IPs)
	checkTwice(rep, "skip.ips", written.Skip.IPs)
}

func checkUnenforced(rep report, written Rule, mode Mode) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"rollout", written.Rollout != ""},
		{"wait", written.Wait != 0},
		{"candidate", written.Candidate != nil && mode == Off},
	} {
		if f.set {
			rep.warn(f.name, "leave it out until the rule is enforced", "does nothing while the mode is %s", mode)
		}
	}
}

// checkWait finds rules that let requests wait for nothing.
func checkWait(rep report, out *Compiled) {
	if out.Wait <= 0 || len(out.Limits) == 0 {
		return
	}
	idle := func(l Limit) bool { return l.Limit.Algorithm == sluice.NoLimit || l.Limit.Count == 0 }
	if !slices.ContainsFunc(out.Limits, func(l Limit) bool { return !idle(l) }) {
		rep.warn("wait", "leave it out", "there is no limit to wait for")
	}
	for i, l := range out.Limits {
		if most := l.Limit.MaxWait; most > 0 && most < time.Duration(out.Wait) {
			rep.warn("wait", "use one time for both", "%v is longer than what %s allows: %v", out.Wait, at("limits", i), most)
		}
	}
}

// checkTwice finds entries of a list that are there twice.
func checkTwice(rep report, field string, list []string) {
	seen := map[string]int{}
	for i, entry := range list {
		if first, ok := seen[entry]; ok {
			rep.warn(at(field, i), "leave one out", "says the same as %s", at(field, first))
			continue
		}
		seen[entry] = i
	}
}

// hasScope reports whether any limit of the rule has the scope.
func (c *Compiled) hasScope(scope Scope) bool {
	has := func(limits []Limit) bool {
		return slices.ContainsFunc(limits, func(l Limit) bool { return l.Scope == scope })
	}
	return has(c.Limits) || has(c.Candidate) ||
		slices.ContainsFunc(c.Overrides, func(o Override) bool { return has(o.Limits) })
}
