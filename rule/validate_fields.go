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
	checkConcurrency(rep, written, out)
	if written.Missing == "" {
		checkMissing(rep, out)
	}
	checkSecrets(rep, out)
}

// checkMissing finds parts of the key that a client can leave out, so that the rule
// does not apply to it, while nobody said that this is meant.
func checkMissing(rep report, out *Compiled) {
	var parts []string
	for i := range out.key.parts {
		if p := &out.key.parts[i]; out.canLack(p) {
			parts = append(parts, p.text)
		}
	}
	if parts != nil {
		rep.warn("missing", "say what happens to them: missing: deny, shared or skip",
			"requests without %s are not limited by this rule", clip(oneOf(parts)))
	}
}

// canLack reports whether a request that fits the match may lack a part of the key.
func (c *Compiled) canLack(p *part) bool {
	switch p.kind {
	case userPart, cookiePart, queryPart:
		return true
	case headerPart:
		return !implies(c.headers, headerTest{name: p.name, value: anyValue})
	case attributePart:
		return !slices.ContainsFunc(c.attributes, func(t attributeTest) bool { return t.name == p.name })
	}
	return false
}

// checkSecrets finds keys that carry credentials to the store and into logs.
func checkSecrets(rep report, out *Compiled) {
	if out.Hash {
		return
	}
	for i := range out.key.parts {
		p := &out.key.parts[i]
		if p.kind == headerPart && slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie"}, p.name) {
			rep.warn(at("key", i), "set hash: true", "the credentials in %s reach store, logs and metrics as they are", p.text)
		}
	}
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

// hasScope reports whether any limit of the rule has the scope.
func (c *Compiled) hasScope(scope Scope) bool {
	has := func(limits []Limit) bool {
		return slices.ContainsFunc(limits, func(l Limit) bool { return l.Scope == scope })
	}
	return has(c.Limits) || has(c.Candidate) ||
		slices.ContainsFunc(c.Overrides, func(o Override) bool { return has(o.Limits) })
}
