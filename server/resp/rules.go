package resp

import (
	"cmp"
	"maps"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// rules finds rules of a set by name.
type rules struct {
	set    *rule.Set
	byName map[string]*named
}

// named is a rule, and what its match asks for that nobody has to say: the request that
// is made of SLUICE.CHECK has it, unless the client says something else.
type named struct {
	*rule.Compiled
	method, host, path string
	headers            headers
	attributes         map[string]string
	sure               sure
}

type field struct{ name, value string }

// rules returns those in force.
func (d *Door) rules() *rules {
	set := d.options.Engine.Set()
	if known := d.known.Load(); known != nil && known.set == set {
		return known
	}
	fresh := &rules{set: set, byName: make(map[string]*named, len(set.Rules()))}
	for _, r := range set.Rules() {
		fresh.byName[r.Name] = newNamed(set, r)
	}
	d.known.Store(fresh)
	return fresh
}

// named returns the rule that a request names, nil if there is none. Mostly it is the one
// of the request before.
func (d *desk) named(rules *rules) *named {
	if n := d.last; n == nil || d.lastOf != rules || n.Name != string(d.args[1]) {
		d.last, d.lastOf = rules.byName[string(d.args[1])], rules
	}
	return d.last
}

func newNamed(set *rule.Set, r *rule.Compiled) *named {
	n := &named{Compiled: r, method: first(r.Match.Methods, ""), host: first(r.Match.Hosts, "*")}
	n.path = cmp.Or(first(r.Match.Paths, "*{"), "/") // which is what no path means
	for name, value := range r.Match.Headers {
		if value != "*" {
			n.headers = append(n.headers, field{name, value})
		}
	}
	n.attributes = maps.Clone(r.Match.Attributes)
	maps.DeleteFunc(n.attributes, func(_, value string) bool { return value == "*" })
	n.makeSure(set)
	return n
}

// first returns the first entry that is no pattern.
func first(entries []string, pattern string) string {
	for _, e := range entries {
		if !strings.ContainsAny(e, pattern) {
			return e
		}
	}
	return ""
}
