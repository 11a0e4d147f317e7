package rule

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
)

const (
	noField = iota
	skipIPsField
	skipHeadersField
)

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

// failing returns the first field of the match that the request does not fit, save
// what is proven already. It leaves in x which path of the match it was.
func (c *Compiled) failing(x *exchange, proven candidate) field {
	x.pattern = 0
	if len(c.methods) > 0 && !proven.proves(methodsField) && !contains(c.methods, x.request.Method) {
		return methodsField
	}
	if len(c.hosts.list) > 0 && !proven.proves(hostsField) && !c.hosts.fits(x) {
		return hostsField
	}
	if len(c.paths.list) > 0 && !proven.proves(pathsField) {
		if x.pattern = c.paths.first(x); x.pattern < 0 {
			return pathsField
		}
	}
	if !proven.proves(headersField) {
		for i := range c.headers {
			if !c.headers[i].fits(x) {
				return headersField
			}
		}
	}
	if len(c.ips.list) > 0 && !proven.proves(ipsField) && !c.ips.contains(x.ip) {
		return ipsField
	}
	if !proven.proves(attributesField) {
		for i := range c.attributes {
			if !c.attributes[i].fits(x) {
				return attributesField
			}
		}
	}
	if c.when != nil && !c.when(x.request) {
		return whenField
	}
	return fits
}

// exempt returns the field of skip that the request fits.
func (c *Compiled) exempt(x *exchange) int {
	if len(c.skipIPs.list) > 0 && c.skipIPs.contains(x.ip) {
		return skipIPsField
	}
	for i := range c.skipHeaders {
		if c.skipHeaders[i].fits(x) {
			return skipHeadersField
		}
	}
	return noField
}

func contains(list []string, s string) bool {
	for _, entry := range list {
		if entry == s {
			return true
		}
	}
	return false
}

// hostList is the hosts of a match.
type hostList struct {
	list  []string
	table *hostTable[struct{}] // if the list is long
}

func makeHosts(list []string) hostList {
	h := hostList{list: list}
	if len(list) > longList {
		h.table = &hostTable[struct{}]{}
		for _, host := range list {
			h.table.add(host, &struct{}{})
		}
	}
	return h
}

func (h *hostList) fits(x *exchange) bool {
	if h.table != nil {
		return h.table.has(x.host)
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
	tree *pathTree[int] // of their numbers, if the list is long
}

func makePaths(list []pattern) pathList {
	p := pathList{list: list}
	if len(list) > longList {
		p.tree = &pathTree[int]{}
		for i := len(list) - 1; i >= 0; i-- { // of equal ones the first stays
			p.tree.add(&list[i], &i)
		}
	}
	return p
}

// first returns the number of the first path in the list that the request has, or -1.
func (p *pathList) first(x *exchange) int {
	if p.tree != nil {
		x.numbers = p.tree.find(x.path, x.ends, x.numbers[:0])
		least := -1
		for _, n := range x.numbers {
			if least < 0 || *n < least {
				least = *n
			}
		}
		return least
	}
	for i := range p.list {
		if p.list[i].matches(x.path, x.ends) {
			return i
		}
	}
	return -1
}
