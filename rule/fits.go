package rule

import "slices"

// field is a field of a rule that decides whether a request is meant.
type field uint8

const (
	fits field = iota
	methodsField
	hostsField
	pathsField
	headersField
	ipsField
	attributesField
	whenField
	skipIPsField // what is below is never asked for in a fieldSet
	skipHeadersField
	skipKeysField
	keyField
)

// fieldSet is some of the fields of a match.
type fieldSet uint8

func setOf(f field) fieldSet { return 1 << f }

func (s fieldSet) has(f field) bool { return s&setOf(f) != 0 }

// headerTest asks for a header field.
type headerTest struct {
	slot  int
	name  string
	value string // * means any
}

func (t *headerTest) fits(x *exchange) bool {
	value := x.header(t.slot)
	return value == t.value || t.value == "*" && value != ""
}

// attributeTest asks for an attribute.
type attributeTest struct {
	name  string
	value string // * means any
}

func (t *attributeTest) fits(x *exchange) bool {
	value := x.request.Attributes[t.name]
	return value == t.value || t.value == "*" && value != ""
}

// asked returns the fields that the match has.
func (c *Compiled) asked() (s fieldSet) {
	for f, has := range map[field]bool{
		methodsField: len(c.methods) > 0, hostsField: len(c.hosts.list) > 0, pathsField: len(c.paths.list) > 0,
		headersField: len(c.headers) > 0, ipsField: len(c.ips.list) > 0, attributesField: len(c.attributes) > 0,
		whenField: c.when != nil,
	} {
		if has {
			s |= setOf(f)
		}
	}
	return s
}

// failing returns the first of the fields that the request does not fit. It leaves in
// x which path of the match it was.
func (c *Compiled) failing(x *exchange, asked fieldSet) field {
	x.pattern = 0
	if asked == 0 {
		return fits
	}
	if asked.has(methodsField) && !slices.Contains(c.methods, x.request.Method) {
		return methodsField
	}
	if asked.has(hostsField) && !c.hosts.fits(x) {
		return hostsField
	}
	if asked.has(pathsField) {
		if x.pattern = c.paths.first(x); x.pattern < 0 {
			return pathsField
		}
	}
	if asked.has(headersField) {
		for i := range c.headers {
			if !c.headers[i].fits(x) {
				return headersField
			}
		}
	}
	if asked.has(ipsField) && !c.ips.contain(x) {
		return ipsField
	}
	if asked.has(attributesField) {
		for i := range c.attributes {
			if !c.attributes[i].fits(x) {
				return attributesField
			}
		}
	}
	if asked.has(whenField) && !c.when(x.show()) {
		return whenField
	}
	return fits
}

// exempt returns the field of skip by which the request is exempt, save for its key; or
// fits if it is not.
func (c *Compiled) exempt(x *exchange) field {
	if len(c.skipIPs.list) > 0 && c.skipIPs.contain(x) {
		return skipIPsField
	}
	for i := range c.skipHeaders {
		if c.skipHeaders[i].fits(x) {
			return skipHeadersField
		}
	}
	return fits
}

// hostList is the hosts of a match.
type hostList struct {
	list  []string
	table *hostTable // if the list is long
}

func makeHosts(list []string) hostList {
	h := hostList{list: list}
	if len(list) > longList {
		h.table = &hostTable{}
		for _, host := range list {
			h.table.add(host, 1)
		}
	}
	return h
}

func (h *hostList) fits(x *exchange) bool {
	if h.table != nil {
		x.numbers = h.table.find(x.host, x.numbers[:0])
		return len(x.numbers) > 0
	}
	for _, entry := range h.list {
		if hostFits(entry, x.host) {
			return true
		}
	}
	return false
}

// pathList is the paths of a match.
type pathList struct {
	list []pattern
	tree *pathTree // if the list is long: of their numbers, counted from 1
}

func makePaths(list []pattern) pathList {
	p := pathList{list: list}
	if len(list) > longList {
		p.tree = &pathTree{}
		for i := len(list) - 1; i >= 0; i-- { // of equal ones the first stays
			p.tree.add(&list[i], int32(i+1))
		}
	}
	return p
}

// first returns the number of the first path in the list that the request has, or -1.
func (p *pathList) first(x *exchange) int {
	if len(p.list) == 1 { // mostly
		if p.list[0].matches(x.path, x.ends) {
			return 0
		}
		return -1
	}
	if p.tree != nil {
		x.numbers = p.tree.find(x.path, x.ends, x.numbers[:0])
		if len(x.numbers) == 0 {
			return -1
		}
		return int(slices.Min(x.numbers)) - 1
	}
	for i := range p.list {
		if p.list[i].matches(x.path, x.ends) {
			return i
		}
	}
	return -1
}
