package resp

import (
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// misses tells why the named rule is not for this request: then nothing would be limited
// by it, though somebody relies on it. Whoever it exempts is none of these cases, nor is a
// rule that is off, nor a part of the key that is given and empty.
func (a *asked) misses(set *rule.Set, n *named) (why string) {
	if a.hits(set, n) {
		return ""
	}
	reason := set.Explain(&a.request)[n.Index]
	switch {
	case reason.Matches, reason.Field == "mode", strings.HasPrefix(reason.Field, "skip."):
		return ""
	case reason.Field == "key" && a.blank:
		return ""
	}
	return reason.Why
}

// hits looks whether the named rule is one of those that decide this request.
func (a *asked) hits(set *rule.Set, n *named) bool {
	set.Match(&a.request, &a.matches)
	return slices.ContainsFunc(a.matches.Hits, func(h rule.Hit) bool { return h.Rule == n.Compiled })
}

// sure says for which requests a rule is without a look at all rules, which the engine
// takes anyway: those that leave to the rule what its match asks for, and give what its key
// is made of. Most requests are such.
type sure struct {
	ever       bool     // there are such requests
	unsaid     uint8    // fields that they do not give; see asked.given
	said       uint8    // fields that they give
	headers    []string // that they give
	attributes []string // that they give
}

// fits reports whether a request is one of those, of which every header and attribute of
// the match was filled in.
func (s *sure) fits(a *asked) bool {
	if !s.ever || a.blank || a.given&(s.unsaid|s.said) != s.said {
		return false
	}
	for _, name := range s.headers {
		if !a.headers.has(name) {
			return false
		}
	}
	for _, name := range s.attributes {
		if _, ok := a.attributes[name]; !ok {
			return false
		}
	}
	return true
}

// makeSure finds out what the rule takes from a request, and tries one that gives no more.
func (n *named) makeSure(set *rule.Set) {
	m, s := &n.Match, &n.sure
	if len(m.IPs) > 0 || m.When != "" {
		return // these look at values
	}
	s.unsaid = givenPath // which could be one that can be read in several ways
	if len(m.Methods) > 0 {
		s.unsaid |= givenMethod
	}
	if len(m.Hosts) > 0 {
		s.unsaid |= givenHost
	}
	var example asked
	for _, part := range n.Key {
		n.want(part, &example)
	}
	example.complete(n)
	s.ever = example.hits(set, n)
}

// want notes what a part of the key takes from a request, and gives it to the example.
// Other parts than these may be missing though something was given; if that matters, the
// example shows it.
func (n *named) want(part string, example *asked) {
	s := &n.sure
	kind, name, _ := strings.Cut(part, ":")
	kind, _, _ = strings.Cut(kind, "/") // as in ip/56
	switch {
	case kind == "ip":
		s.said |= givenIP
		example.set(kind, "192.0.2.1")
	case kind == "user":
		s.said |= givenUser
		example.set(kind, "ann")
	case kind == "header" && !n.headers.has(name):
		s.headers = append(s.headers, name)
		example.setHeader(name, "a")
	case kind == "attribute" && n.attributes[name] == "":
		s.attributes = append(s.attributes, name)
		example.setAttribute(name, "a")
	}
}
