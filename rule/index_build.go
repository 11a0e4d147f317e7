package rule

import (
	"cmp"
	"maps"
	"slices"
)

// dimension is a field of rules that can be indexed.
type dimension struct {
	field field
	name  string // of the header or attribute
}

// term is one value of a rule in a dimension.
type term struct {
	dimension
	value string
	entry int  // its number in the field of the rule
	broad bool // it stands for many values
}

// terms returns all values by which a rule can be found.
func (c *Compiled) terms() []term {
	var all []term
	for i, p := range c.paths.list {
		_, exact := p.exact()
		all = append(all, term{dimension{pathsField, ""}, p.shape(), i, !exact})
	}
	for i, h := range c.hosts.list {
		all = append(all, term{dimension{hostsField, ""}, h, i, h[0] == '*'})
	}
	for _, a := range c.attributes {
		all = append(all, term{dimension{attributesField, a.name}, a.value, 0, a.value == "*"})
	}
	for i, h := range c.headers {
		all = append(all, term{dimension{headersField, h.name}, h.value, i, h.value == "*"})
	}
	for i, p := range c.ips.list {
		all = append(all, term{dimension{ipsField, ""}, p.String(), i, !p.IsSingleIP()})
	}
	for i, m := range c.methods { // any of them is that of many requests
		all = append(all, term{dimension{methodsField, ""}, m, i, true})
	}
	return all
}

// leafSize is how many rules are tried one by one rather than told apart.
const leafSize = 2

// indexed is a rule with the terms that are not used yet.
type indexed struct {
	rule   *Compiled
	terms  []term
	proven fieldSet
}

// without returns the rule with the terms of a dimension used.
func (r indexed) without(d dimension) indexed {
	r.terms = slices.DeleteFunc(slices.Clone(r.terms), func(t term) bool { return t.dimension == d })
	whole := true
	switch d.field {
	case pathsField: // of several it has to be found out which one it was
		whole = len(r.rule.paths.list) == 1
	case headersField:
		whole = len(r.rule.headers) == 1
	case attributesField:
		whole = len(r.rule.attributes) == 1
	}
	if whole {
		r.proven |= setOf(d.field)
	}
	return r
}

// indexer builds an index.
type indexer struct{ nodes []node }

// build makes the node of rules, with all below it, and returns its number.
func (b *indexer) build(rules []indexed, depth int) int32 {
	counts := map[term]int{}
	for _, r := range rules {
		for _, t := range r.terms {
			counts[t.plain()]++
		}
	}
	n := node{}
	groups := map[dimension]map[string][]indexed{}
	samples := map[term]indexed{} // a rule that has the term, to read its compiled form from
	for _, r := range rules {
		d, ok := choose(r, counts, len(rules), depth)
		if !ok {
			n.rest = append(n.rest, lead(r.rule.Index)<<8|lead(r.proven))
			continue
		}
		if groups[d] == nil {
			groups[d] = map[string][]indexed{}
		}
		rest := r.without(d)
		for _, t := range r.terms {
			if t.dimension == d && !lastIs(groups[d][t.value], r.rule) {
				groups[d][t.value] = append(groups[d][t.value], rest)
				samples[t.plain()] = indexed{rule: r.rule, terms: []term{t}}
			}
		}
	}
	n.leaf = len(groups) == 0
	number := len(b.nodes)
	b.nodes = append(b.nodes, node{}) // so that those below come after it
	for _, d := range slices.SortedFunc(maps.Keys(groups), compareDimensions) {
		for value, bucket := range groups[d] {
			s := samples[term{dimension: d, value: value}]
			n.insert(s.rule, s.terms[0], b.build(bucket, depth+1))
		}
	}
	b.nodes[number] = n
	return int32(number)
}

// plain is the term without what differs from rule to rule.
func (t term) plain() term { return term{dimension: t.dimension, value: t.value} }

func lastIs(bucket []indexed, c *Compiled) bool {
	return len(bucket) > 0 && bucket[len(bucket)-1].rule == c
}

func compareDimensions(a, b dimension) int {
	return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.name, b.name))
}

// choose returns the dimension in which the rule has fewest others beside it. Below
// the top it must make the list at least half as long: a rule with many values lies
// in many places, and that has to be worth it.
func choose(r indexed, counts map[term]int, rules, depth int) (dimension, bool) {
	if depth > 0 && rules <= leafSize {
		return dimension{}, false
	}
	worst := map[dimension]int{}
	for _, t := range r.terms {
		score := 2 * counts[t.plain()]
		if t.broad {
			score++
		}
		worst[t.dimension] = max(worst[t.dimension], score)
	}
	best, least, ok := dimension{}, 0, false
	for _, t := range r.terms { // in the order of terms, so that it is always the same
		score := worst[t.dimension]
		if depth > 0 && score/2 > rules/2 {
			continue
		}
		if !ok || score < least {
			best, least, ok = t.dimension, score, true
		}
	}
	return best, ok
}

// insert puts a node under a term of a rule.
func (n *node) insert(c *Compiled, t term, sub int32) {
	switch t.field {
	case pathsField:
		if n.paths == nil {
			n.paths = &pathTree{}
		}
		n.paths.add(&c.paths.list[t.entry], sub)
	case hostsField:
		if n.hosts == nil {
			n.hosts = &hostTable{}
		}
		n.hosts.add(t.value, sub)
	case ipsField:
		if n.ips == nil {
			n.ips = &cidrTable{}
		}
		n.ips.add(c.ips.list[t.entry], sub)
	case methodsField:
		n.methods.add(t.value, sub)
	case headersField:
		n.insertHeader(&c.headers[t.entry], t.value, sub)
	case attributesField:
		n.insertAttribute(t.name, t.value, sub)
	}
}

func (n *node) insertHeader(h *headerTest, value string, sub int32) {
	i, ok := n.byField[h.name]
	if !ok {
		if n.byField == nil {
			n.byField = map[string]int{}
		}
		i = len(n.headers)
		n.byField[h.name] = i
		n.headers = append(n.headers, headerIndex{slot: h.slot})
	}
	if value == "*" {
		n.headers[i].any = sub
	} else {
		n.headers[i].values.add(value, sub)
	}
}

func (n *node) insertAttribute(name, value string, sub int32) {
	i, ok := n.byName[name]
	if !ok {
		if n.byName == nil {
			n.byName = map[string]int{}
		}
		i = len(n.attributes)
		n.byName[name] = i
		n.attributes = append(n.attributes, attributeIndex{name: name})
	}
	if value == "*" {
		n.attributes[i].any = sub
	} else {
		n.attributes[i].values.add(value, sub)
	}
}
