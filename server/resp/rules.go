package resp

import (
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
	method, host, path  string
	headers, attributes []field
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
		fresh.byName[r.Name] = newNamed(r)
	}
	d.known.Store(fresh)
	return fresh
}

func newNamed(r *rule.Compiled) *named {
	n := &named{Compiled: r, host: first(r.Match.Hosts, "*"), path: first(r.Match.Paths, "*{")}
	n.method = first(r.Match.Methods, "")
	n.headers, n.attributes = definite(r.Match.Headers), definite(r.Match.Attributes)
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

// definite returns the fields that can have one value only.
func definite(fields map[string]string) (list []field) {
	for name, value := range fields {
		if value != "*" {
			list = append(list, field{name, value})
		}
	}
	return list
}
