package resp

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// asked is a request as the rules want it, made of the arguments of a command:
//
//	rule [name=value ...] [COST n]
//
// Names are method, host, path, query, ip, user, length, header:NAME and attribute:NAME;
// any other is that of an attribute.
type asked struct {
	request    engine.Request
	headers    headers
	attributes map[string]string
	given      uint8 // which of the fields of the request were given
	blank      bool  // something was given that is empty: it is missing, and meant to be
	matches    rule.Matches
}

// Bits of asked.given.
const (
	givenMethod = 1 << iota
	givenHost
	givenPath
	givenQuery
	givenIP
	givenUser
	givenLength
)

// clear forgets the request.
func (a *asked) clear() {
	a.request = engine.Request{}
	clear(a.headers)
	clear(a.attributes)
	a.headers, a.given, a.blank = a.headers[:0], 0, false
}

// read takes the fields and the cost. It returns what is wrong with them.
func (a *asked) read(args [][]byte) (problem string) {
	a.clear()
	if n := len(args); n >= 2 && bytes.EqualFold(args[n-2], []byte("COST")) {
		cost, ok := parseNumber(args[n-1])
		if !ok || cost < 1 || cost > algo.MaxCount {
			return "COST " + shown(args[n-1]) + " is out of range; give 1 to 1e15, or leave it out for what the rules say"
		}
		a.request.Cost, args = cost, args[:n-2]
	}
	for _, arg := range args {
		end := bytes.IndexByte(arg, '=')
		if end <= 0 {
			return "'" + shown(arg) + "' is no field; write name=value, and last of all COST n"
		}
		if problem = a.set(textOf(arg[:end]), textOf(arg[end+1:])); problem != "" {
			return problem
		}
	}
	return ""
}

// set takes one field.
func (a *asked) set(name, value string) (problem string) {
	if value == "" {
		a.blank = true
	}
	r := &a.request
	switch name {
	case "method":
		return a.once(name, givenMethod, &r.Method, value)
	case "host":
		return a.once(name, givenHost, &r.Host, value)
	case "path":
		path, query, has := strings.Cut(value, "?")
		if has {
			if problem = a.once("query", givenQuery, &r.Query, query); problem != "" {
				return problem
			}
		}
		return a.once(name, givenPath, &r.Path, path)
	case "query":
		return a.once(name, givenQuery, &r.Query, value)
	case "user":
		return a.once(name, givenUser, &r.User, value)
	case "ip":
		return a.setIP(value)
	case "length":
		return a.setLength(value)
	case "cost":
		return "cost= is no field; write COST " + shown([]byte(value)) + " at the end"
	}
	if header, ok := strings.CutPrefix(name, "header:"); ok {
		return a.setHeader(header, value)
	}
	return a.setAttribute(strings.TrimPrefix(name, "attribute:"), value)
}

func (a *asked) once(name string, bit uint8, to *string, value string) (problem string) {
	*to = value
	return a.mark(name, bit)
}

// mark notes that a field was given.
func (a *asked) mark(name string, bit uint8) (problem string) {
	if a.given&bit != 0 {
		return name + " is given twice"
	}
	a.given |= bit
	return ""
}

func (a *asked) setIP(value string) (problem string) {
	if value != "" {
		ip, err := netip.ParseAddr(value)
		if err != nil {
			return "ip=" + shown([]byte(value)) + " is no address; give the client's alone, without port or brackets"
		}
		a.request.IP = ip
	}
	return a.mark("ip", givenIP)
}

func (a *asked) setLength(value string) (problem string) {
	n, ok := parseNumber([]byte(value))
	if !ok || n < -1 {
		return "length=" + shown([]byte(value)) + " is out of range; give the size of the body in bytes, or -1 if it is not known"
	}
	a.request.Length = n
	return a.mark("length", givenLength)
}

func (a *asked) setHeader(name, value string) (problem string) {
	if name == "" {
		return "header: has no name; write header:NAME=value"
	}
	if a.headers.has(name) {
		return "header:" + shown([]byte(name)) + " is given twice"
	}
	a.headers = append(a.headers, field{name, value})
	return ""
}

func (a *asked) setAttribute(name, value string) (problem string) {
	if name == "" {
		return "attribute: has no name; write attribute:NAME=value, or NAME=value"
	}
	if _, ok := a.attributes[name]; ok {
		return shown([]byte(name)) + " is given twice"
	}
	if a.attributes == nil {
		a.attributes = map[string]string{}
	}
	a.attributes[name] = value
	return ""
}

// complete fills in what the match of the named rule asks for and nobody has said. It
// reports whether that is every header and attribute that the match wants to have a certain
// value.
func (a *asked) complete(n *named) (all bool) {
	r := &a.request
	if a.given&givenMethod == 0 {
		r.Method = n.method
	}
	if a.given&givenHost == 0 {
		r.Host = n.host
	}
	if a.given&givenPath == 0 {
		r.Path = n.path
	}
	said := len(a.headers)
	for _, h := range n.headers {
		if !a.headers.has(h.name) {
			a.headers = append(a.headers, h)
		}
	}
	all = len(a.headers)-said == len(n.headers)
	if len(a.headers) > 0 {
		r.Header = &a.headers
	}
	return a.completeAttributes(n) && all
}

func (a *asked) completeAttributes(n *named) (all bool) {
	said := len(a.attributes)
	if said == 0 {
		a.request.Attributes = n.attributes
		return true
	}
	for name, value := range n.attributes {
		if _, ok := a.attributes[name]; !ok {
			a.attributes[name] = value
		}
	}
	a.request.Attributes = a.attributes
	return len(a.attributes)-said == len(n.attributes)
}

// headers finds fields by name, whatever the case. There are few of them.
type headers []field

// Get returns the value of a name, or "".
func (h *headers) Get(name string) string {
	for i := range *h {
		if f := &(*h)[i]; len(f.name) == len(name) && strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

func (h *headers) has(name string) bool {
	for i := range *h {
		if strings.EqualFold((*h)[i].name, name) {
			return true
		}
	}
	return false
}
