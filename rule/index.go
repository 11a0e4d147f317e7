package rule

import (
	"cmp"
	"maps"
	"slices"
)

// node is an index of rules. Each rule lies in it under the values of one field, the
// one by which it is told apart best, or among the rest. Under a value lies another
// node, which tells the rules there apart by their other fields. So a request comes
// only to rules that fit it in all that was asked on the way.
type node struct {
	rest       []candidate
	leaf       bool // there is nothing else
	methods    map[string]*node
	paths      *pathTree[node]
	hosts      *hostTable[node]
	ips        *cidrTable[node]
	headers    []headerIndex
	attributes []attributeIndex
	byName     map[string]int // numbers of attributes, if they are many
}

type headerIndex struct {
	slot   int
	values map[string]*node
	any    *node
}

type attributeIndex struct {
	name   string
	values map[string]*node
	any    *node
}

// candidate is the number of a rule that a request may match, above eight bits that
// tell which fields of its match were decided on the way.
type candidate uint32

func (c candidate) rule() uint32 { return uint32(c) >> 8 }

// proves reports whether the request is known to fit the field.
func (c candidate) proves(f field) bool { return c>>f&1 != 0 }

// collect appends the rules that the request may match. Some may come
// twice, and in any order.
func (n *node) collect(x *exchange, to []candidate) []candidate {
	to = append(to, n.rest...)
	if n.methods != nil {
		to = n.methods[x.request.Method].visit(x, to)
	}
	if n.paths != nil || n.hosts != nil || n.ips != nil {
		to = n.collectTables(x, to)
	}
	for i := range n.headers {
		h := &n.headers[i]
		if value := x.header(h.slot); value != "" {
			to = h.any.visit(x, h.values[value].visit(x, to))
		}
	}
	if len(n.attributes) > 0 && len(x.request.Attributes) > 0 {
		to = n.collectAttributes(x, to)
	}
	return to
}

func (n *node) visit(x *exchange, to []candidate) []candidate {
	switch {
	case n == nil:
		return to
	case n.leaf:
		return append(to, n.rest...)
	}
	return n.collect(x, to)
}

// collectTables visits what lies under the request's path, host and address. The
// list of nodes is a stack: deeper nodes use it above this one's.
func (n *node) collectTables(x *exchange, to []candidate) []candidate {
	start := len(x.nodes)
	if n.paths != nil {
		x.nodes = n.paths.find(x.path, x.ends, x.nodes)
	}
	if n.hosts != nil {
		x.nodes = n.hosts.find(x.host, x.nodes)
	}
	if n.ips != nil {
		x.nodes = n.ips.find(x.ip, x.nodes)
	}
	for i := start; i < len(x.nodes); i++ {
		to = x.nodes[i].visit(x, to)
	}
	x.nodes = x.nodes[:start]
	return to
}

// collectAttributes asks for each attribute that rules name, or looks up each that
// the request has, whichever are fewer.
func (n *node) collectAttributes(x *exchange, to []candidate) []candidate {
	if len(x.request.Attributes) < len(n.attributes) {
		for name, value := range x.request.Attributes {
			if i, ok := n.byName[name]; ok && value != "" {
				to = n.attributes[i].any.visit(x, n.attributes[i].values[value].visit(x, to))
			}
		}
		return to
	}
	for i := range n.attributes {
		a := &n.attributes[i]
		if value := x.request.Attributes[a.name]; value != "" {
			to = a.any.visit(x, a.values[value].visit(x, to))
		}
	}
	return to
}

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
	for i, m := range c.methods {
		all = append(all, term{dimension{methodsField, ""}, m, i, false})
	}
	return all
}

// leafSize is how many rules are tried one by one rather than told apart.
const leafSize = 2

// indexed is a rule with the terms that are not used yet.
type indexed struct {
	rule   *Compiled
	terms  []term
	proven candidate // fields
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
		r.proven |= 1 << d.field
	}
	return r
}

// buildIndex makes the index of rules.
func buildIndex(rules []indexed, depth int) *node {
	n := &node{}
	counts := map[term]int{}
	for _, r := range rules {
		for _, t := range r.terms {
			counts[t.plain()]++
		}
	}
	groups := map[dimension]map[string][]indexed{}
	samples := map[term]indexed{} // a rule that has the term, to read its compiled form from
	for _, r := range rules {
		d, ok := choose(r, counts, len(rules), depth)
		if !ok {
			n.rest = append(n.rest, candidate(r.rule.Index)<<8|r.proven)
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
	for _, d := range slices.SortedFunc(maps.Keys(groups), compareDimensions) {
		for value, bucket := range groups[d] {
			s := samples[term{dimension: d, value: value}]
			n.insert(s.rule, s.terms[0], buildIndex(bucket, depth+1))
		}
	}
	return n
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
func (n *node) insert(c *Compiled, t term, sub *node) {
	switch t.field {
	case pathsField:
		if n.paths == nil {
			n.paths = &pathTree[node]{}
		}
		n.paths.add(&c.paths.list[t.entry], sub)
	case hostsField:
		if n.hosts == nil {
			n.hosts = &hostTable[node]{}
		}
		n.hosts.add(t.value, sub)
	case ipsField:
		if n.ips == nil {
			n.ips = &cidrTable[node]{}
		}
		n.ips.add(c.ips.list[t.entry], sub)
	case methodsField:
		if n.methods == nil {
			n.methods = map[string]*node{}
		}
		n.methods[t.value] = sub
	case headersField:
		n.insertHeader(c.headers[t.entry].slot, t.value, sub)
	case attributesField:
		n.insertAttribute(t.name, t.value, sub)
	}
}

func (n *node) insertHeader(slot int, value string, sub *node) {
	i := slices.IndexFunc(n.headers, func(h headerIndex) bool { return h.slot == slot })
	if i < 0 {
		i = len(n.headers)
		n.headers = append(n.headers, headerIndex{slot: slot, values: map[string]*node{}})
	}
	if value == "*" {
		n.headers[i].any = sub
	} else {
		n.headers[i].values[value] = sub
	}
}

func (n *node) insertAttribute(name, value string, sub *node) {
	i, ok := n.byName[name]
	if !ok {
		if n.byName == nil {
			n.byName = map[string]int{}
		}
		i = len(n.attributes)
		n.byName[name] = i
		n.attributes = append(n.attributes, attributeIndex{name: name, values: map[string]*node{}})
	}
	if value == "*" {
		n.attributes[i].any = sub
	} else {
		n.attributes[i].values[value] = sub
	}
}
