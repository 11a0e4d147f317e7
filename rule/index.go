package rule

import "net/http"

// node is an index of rules. Each rule lies in it under the values of one field, the
// one by which it is told apart best, or among the rest. Under a value lies another
// node, which tells the rules there apart by their other fields. So a request comes
// only to rules that fit it in all that was asked on the way.
//
// Nodes know each other by number. The root has 0 and lies under nothing, so that 0
// means none elsewhere.
type node struct {
	rest       []lead
	leaf       bool // there is nothing else
	methods    textTable
	paths      *pathTree
	hosts      *hostTable
	ips        *cidrTable
	headers    []headerIndex
	attributes []attributeIndex
	byField    map[string]int // numbers of headers
	byName     map[string]int // numbers of attributes
}

type headerIndex struct {
	slot   int
	values textTable
	any    int32
}

type attributeIndex struct {
	name   string
	values textTable
	any    int32
}

// lead is the number of a rule that a request may match, above eight bits that tell
// which fields of its match were decided on the way.
type lead uint32

func (l lead) rule() uint32 { return uint32(l) >> 8 }

// proven returns the fields that the request is known to fit.
func (l lead) proven() fieldSet { return fieldSet(l) }

// collect appends the rules that the request may match, as far as the node knows. Some
// may come twice, and in any order.
func (n *node) collect(x *exchange, to []lead) []lead {
	to = append(to, n.rest...)
	if n.methods.used > 0 {
		to = x.visit(n.methods.find(x.request.Method), to)
	}
	if n.paths != nil || n.hosts != nil || n.ips != nil {
		to = n.collectTables(x, to)
	}
	if len(n.headers) > 0 {
		to = n.collectHeaders(x, to)
	}
	if len(n.attributes) > 0 && len(x.request.Attributes) > 0 {
		to = n.collectAttributes(x, to)
	}
	return to
}

// visit appends what lies under a node, if there is one.
func (x *exchange) visit(number int32, to []lead) []lead {
	if number == 0 {
		return to
	}
	n := &x.core.nodes[number]
	if n.leaf {
		return append(to, n.rest...)
	}
	return n.collect(x, to)
}

// collectTables visits what lies under the request's path, host and address. The
// list of nodes is a stack: deeper nodes use it above this one's.
func (n *node) collectTables(x *exchange, to []lead) []lead {
	start, found := len(x.nodes), x.nodes
	if n.paths != nil {
		found = n.paths.find(x.path, x.ends, found)
	}
	if n.hosts != nil {
		found = n.hosts.find(x.host, found)
	}
	if n.ips != nil {
		found = n.ips.find(x.ip, found)
	}
	x.nodes = found
	for _, number := range found[start:] {
		if sub := &x.core.nodes[number]; sub.leaf && len(sub.rest) == 1 {
			to = append(to, sub.rest[0])
		} else {
			to = sub.collect(x, to)
		}
	}
	x.nodes = x.nodes[:start]
	return to
}

// collectHeaders asks for each header field that rules name, or looks up each that the
// request has, whichever are fewer.
func (n *node) collectHeaders(x *exchange, to []lead) []lead {
	if len(n.headers) > fewHeaders {
		if header, ok := x.request.Header.(http.Header); ok && len(header) < len(n.headers) {
			for name, values := range header {
				if i, ok := n.byField[name]; ok && len(values) > 0 && values[0] != "" {
					h := &n.headers[i]
					to = x.visit(h.any, x.visit(h.values.find(values[0]), to))
				}
			}
			return to
		}
	}
	for i := range n.headers {
		h := &n.headers[i]
		if value := x.header(h.slot); value != "" {
			to = x.visit(h.any, x.visit(h.values.find(value), to))
		}
	}
	return to
}

// fewHeaders is up to how many header fields are always asked for one by one: going
// through those of a request takes longer.
const fewHeaders = 8

// collectAttributes asks for each attribute that rules name, or looks up each that
// the request has, whichever are fewer.
func (n *node) collectAttributes(x *exchange, to []lead) []lead {
	if len(x.request.Attributes) < len(n.attributes) {
		for name, value := range x.request.Attributes {
			if i, ok := n.byName[name]; ok && value != "" {
				a := &n.attributes[i]
				to = x.visit(a.any, x.visit(a.values.find(value), to))
			}
		}
		return to
	}
	for i := range n.attributes {
		a := &n.attributes[i]
		if value := x.request.Attributes[a.name]; value != "" {
			to = x.visit(a.any, x.visit(a.values.find(value), to))
		}
	}
	return to
}
