package rule

import (
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// compileMatch makes the match of a rule ready.
func (c *compiler) compileMatch(rep report, out *Compiled) {
	m := &out.Match
	for i, method := range m.Methods {
		checkMethod(rep, at("match.methods", i), method)
	}
	out.methods = withHead(m.Methods)
	out.hosts = makeHosts(compileHosts(rep, m.Hosts))
	out.paths = makePaths(c.compilePaths(rep, m.Paths))
	out.ips = makePrefixes(compilePrefixes(rep, "match.ips", m.IPs))
	out.headers = c.compileHeaders(rep, "match.headers", m.Headers)
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		value := m.Attributes[name]
		if name == "" || value == "" {
			rep.fault(inMap("match.attributes", name), "name an attribute, and use * for any value", "no name or no value")
			continue
		}
		checkStar(rep, inMap("match.attributes", name), value)
		out.attributes = append(out.attributes, attributeTest{name, value})
	}
	if m.When != "" {
		out.when = c.compileWhen(rep, m.When)
	}
}

// withHead returns the methods of a match, with HEAD if GET is one: servers answer it
// by what they have for GET, so that it would be a way round.
func withHead(methods []string) []string {
	if slices.Contains(methods, http.MethodGet) && !slices.Contains(methods, http.MethodHead) {
		return append(slices.Clone(methods), http.MethodHead)
	}
	return methods
}

// at names an entry of a list.
func at(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// inMap names an entry of a map.
func inMap(field, name string) string { return field + "." + name }

func checkMethod(rep report, field, method string) {
	if method == "" || !isToken(method) {
		rep.fault(field, "use a name such as GET", "%q is no method", clip(method))
	} else if upper := strings.ToUpper(method); upper != method {
		rep.fault(field, "did you mean "+upper+"?", "%q is no method: they are written in upper case", clip(method))
	}
}

// isToken reports whether s can be the name of a header field or a method.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func compilePrefixes(rep report, field string, texts []string) []netip.Prefix {
	var out []netip.Prefix
	for i, text := range texts {
		p, hint := parsePrefix(text)
		if hint != "" {
			rep.fault(at(field, i), hint, "%q is no address or prefix", clip(text))
			continue
		}
		out = append(out, p)
	}
	return out
}

// parsePrefix reads an address or a prefix; a hint tells how to write a bad one.
func parsePrefix(text string) (netip.Prefix, string) {
	if a, err := netip.ParseAddr(text); err == nil {
		if a.Zone() != "" {
			return netip.Prefix{}, "leave out the zone"
		}
		a = cleanAddr(a)
		return netip.PrefixFrom(a, a.BitLen()), ""
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, "write it as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return p, "write it as a prefix of IPv4"
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p.Masked() != p {
		return p, "did you mean " + p.Masked().String() + "?"
	}
	return p, ""
}

func (c *compiler) compileHeaders(rep report, field string, headers map[string]string) []headerTest {
	var out []headerTest
	for _, written := range slices.Sorted(maps.Keys(headers)) {
		value := headers[written]
		name, ok := headerName(rep, inMap(field, written), written)
		switch {
		case !ok:
		case value == "":
			rep.fault(inMap(field, written), "use * for any value", "no value")
		case slices.ContainsFunc(out, func(t headerTest) bool { return t.name == name }):
			rep.fault(inMap(field, written), "leave one out", "%q is there twice, in different spellings", name)
		default:
			checkStar(rep, inMap(field, written), value)
			out = append(out, headerTest{c.slot(name), name, value})
		}
	}
	return out
}

// checkStar finds values in which a * is meant to stand for something. */* is a value
// that clients do send.
func checkStar(rep report, field, value string) {
	if strings.Contains(value, "*") && value != anyValue && value != "*/*" {
		rep.warn(field, "use * alone for any value, or when for a part of it", "%q is taken as it stands: only * alone stands for any value", clip(value))
	}
}

// headerName returns the name of a header field as Getters know it.
func headerName(rep report, field, written string) (string, bool) {
	name := textproto.CanonicalMIMEHeaderKey(written)
	if !isToken(written) {
		rep.fault(field, "use a name such as X-Api-Key", "%q cannot be the name of a header field", clip(written))
		return "", false
	}
	if name == "Host" {
		rep.fault(field, "use match.hosts, or the key part host", "the host is no header field here")
		return "", false
	}
	return name, true
}

func (c *compiler) compileWhen(rep report, text string) func(*Request) bool {
	if c.conditions == nil {
		rep.fault("match.when", "use a rule file, or the option rule.Conditions", "expressions are not available here")
		return nil
	}
	when, err := c.conditions(text)
	if err == nil && when == nil {
		err = errors.New("it was compiled to nothing")
	}
	if err != nil {
		rep.fault("match.when", "correct the expression, or leave it out", "%v", err)
	}
	return when
}
