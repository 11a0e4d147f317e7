package rule

import (
	"maps"
	"slices"
)

// clone returns a copy that shares nothing with c, so that a set stays as it is
// whatever its maker does with the configuration afterwards.
func (c Config) clone() Config {
	c.Rules = slices.Clone(c.Rules)
	for i := range c.Rules {
		c.Rules[i] = c.Rules[i].clone()
	}
	return c
}

func (r Rule) clone() Rule {
	m := &r.Match
	for _, list := range []*[]string{&m.Methods, &m.Hosts, &m.Paths, &m.IPs, &r.Skip.IPs, &r.Key} {
		*list = slices.Clone(*list)
	}
	m.Headers, m.Attributes, r.Skip.Headers = maps.Clone(m.Headers), maps.Clone(m.Attributes), maps.Clone(r.Skip.Headers)
	r.Skip.Keys = cloneKeys(r.Skip.Keys)
	r.Limits, r.Candidate = slices.Clone(r.Limits), slices.Clone(r.Candidate)
	r.Cost.Methods = maps.Clone(r.Cost.Methods)
	r.Overrides = slices.Clone(r.Overrides)
	for i := range r.Overrides {
		o := &r.Overrides[i]
		o.Keys, o.Limits = cloneKeys(o.Keys), slices.Clone(o.Limits)
	}
	return r
}

func cloneKeys(keys []KeyValues) []KeyValues {
	keys = slices.Clone(keys)
	for i := range keys {
		keys[i] = slices.Clone(keys[i])
	}
	return keys
}
