package rule

import (
	"net/netip"
	"slices"
	"strings"
)

// covers reports whether every request that fits the match of b fits that of a. It
// may miss some that it would take more thought to see.
func (a *Compiled) covers(b *Compiled) bool {
	return everyIn(a.methods, b.methods, func(a, b string) bool { return a == b }) &&
		everyIn(a.hosts.list, b.hosts.list, hostCovers) &&
		everyIn(a.paths.list, b.paths.list, patternCovers) &&
		everyIn(a.ips.list, b.ips.list, prefixCovers) &&
		impliedBy(a.headers, b.headers) &&
		!slices.ContainsFunc(a.attributes, func(t attributeTest) bool {
			return !slices.ContainsFunc(b.attributes, func(o attributeTest) bool {
				return o.name == t.name && (t.value == "*" || t.value == o.value)
			})
		}) &&
		(a.Match.When == "" || a.Match.When == b.Match.When)
}

// everyIn reports whether each entry of b is covered by one of a. An empty list
// stands for everything.
func everyIn[T any](a, b []T, covers func(a, b T) bool) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == 0
	}
	return !slices.ContainsFunc(b, func(inner T) bool {
		return !slices.ContainsFunc(a, func(outer T) bool { return covers(outer, inner) })
	})
}

// impliedBy reports whether whoever passes all tests of b passes those of a.
func impliedBy(a, b []headerTest) bool {
	return !slices.ContainsFunc(a, func(t headerTest) bool { return !implies(b, t) })
}

// implies reports whether whoever passes the tests has the header that t asks for.
func implies(tests []headerTest, t headerTest) bool {
	return slices.ContainsFunc(tests, func(o headerTest) bool {
		return o.name == t.name && (t.value == "*" || t.value == o.value)
	})
}

func hostCovers(a, b string) bool {
	parent, wild := strings.CutPrefix(b, "*.")
	return a == b || hostFits(a, parent) && (wild && a[0] == '*' || !wild)
}

func prefixCovers(a, b netip.Prefix) bool { return a.Bits() <= b.Bits() && a.Contains(b.Addr()) }

func patternCovers(a, b pattern) bool {
	if len(b.segments) < len(a.segments) || !a.below && (b.below || len(b.segments) > len(a.segments)) {
		return false
	}
	for i, s := range a.segments {
		if a.names[i] == "" && (b.names[i] != "" || b.segments[i] != s) {
			return false
		}
	}
	return true
}

// somewhere is a value that no rule asks for by name.
const somewhere = "\x00"

// sample returns a request that fits the match of the rule, and as little else as can
// be: whatever covers the rule has to fit it too.
func (c *Compiled) sample(all *core) *exchange {
	r := &Request{Method: somewhere, Attributes: map[string]string{}}
	x := &exchange{request: r, core: all, round: 1, host: somewhere, path: somewhere, headers: make([]headerValue, len(all.headers))}
	if len(c.methods) > 0 {
		r.Method = c.methods[0]
	}
	if len(c.hosts.list) > 0 {
		x.host = strings.Replace(c.hosts.list[0], "*", somewhere, 1)
	}
	if len(c.paths.list) > 0 {
		x.path = "/"
		p := c.paths.list[0]
		for i, s := range p.segments {
			if p.names[i] != "" {
				s = somewhere
			}
			x.path = strings.TrimSuffix(x.path, "/") + "/" + s
		}
		x.ends = segmentEnds(x.path, nil)
	}
	if len(c.ips.list) > 0 {
		x.ip = c.ips.list[0].Addr()
	}
	value := func(v string) string { return strings.Replace(v, "*", somewhere, 1) }
	for _, a := range c.attributes {
		r.Attributes[a.name] = value(a.value)
	}
	for _, h := range c.headers {
		x.headers[h.slot] = headerValue{value(h.value), 1}
	}
	return x
}
