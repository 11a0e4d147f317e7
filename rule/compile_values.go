package rule

import (
	"strconv"
	"strings"
)

// keyValues returns the values of a key as they stand in keys at the store.
func (c *Compiled) keyValues(rep report, field string, values KeyValues) ([]string, bool) {
	if len(c.Key) == 0 {
		rep.fault(field, "give the rule a key", "the rule has no key")
		return nil, false
	}
	if len(c.key.parts) != len(c.Key) { // a part is wrong, which was told already
		return nil, false
	}
	if len(values) != len(c.Key) {
		rep.fault(field, "give one for each part, in the order of key; * stands for any", "%s for a key of %s", count(len(values), "value"), count(len(c.Key), "part"))
		return nil, false
	}
	escaped := make([]string, len(values))
	for i, value := range values {
		text, hint := c.key.parts[i].canonical(value, c.key.fold)
		if hint != "" {
			rep.fault(field, hint, "%q can never be a value of %s", clip(value), c.Key[i])
			return nil, false
		}
		escaped[i] = text
	}
	return escaped, true
}

// count writes a number of things.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// canonical returns a value as it stands in a key; a hint tells how to write one that
// can never be there.
func (p *part) canonical(value string, fold bool) (escaped, hint string) {
	switch value {
	case anyValue:
		return value, ""
	case "":
		return "", "an empty value counts as missing; use * for any"
	}
	want := value
	switch p.kind {
	case ipPart:
		return p.canonicalIP(value)
	case hostPart:
		want = canonicalHost(value)
	case methodPart:
		if want = strings.ToUpper(value); !isToken(value) {
			return "", "write a method such as GET"
		}
	case pathPart, variablePart:
		if want, hint = p.canonicalPath(value, fold); hint != "" {
			return "", hint
		}
	case headerPart:
		want = strings.Trim(value, " \t")
	case cookiePart:
		if !isCookieValue(value) {
			return "", "leave out quotes, semicolons, backslashes and what is not ASCII: servers do not take such a cookie"
		}
	case constPart:
		want = p.name
	}
	if want != value {
		return "", "write " + want
	}
	return string(appendEscaped(nil, value)), ""
}

// canonicalPath is canonical for paths and their variables, which are one segment.
func (p *part) canonicalPath(value string, fold bool) (want, hint string) {
	start := ""
	if p.kind == variablePart {
		start = "/"
		if strings.Contains(value, "/") {
			return "", "a variable is one segment of the path: leave out the slash"
		}
	}
	path, _, ambiguous := canonicalPath(start+value, fold, nil)
	if ambiguous || path == start {
		return "", "write a path that cannot be read in more than one way"
	}
	return strings.TrimPrefix(path, start), ""
}

func (p *part) canonicalIP(value string) (escaped, hint string) {
	prefix, hint := parsePrefix(value)
	if hint != "" {
		return "", hint
	}
	addr := prefix.Addr()
	if addr.Is4() {
		if prefix.Bits() < 32 {
			return "", "an override or exemption by key names one address; use skip.ips or a rule of its own for a prefix"
		}
		return addr.String(), ""
	}
	if prefix.Bits() != 128 && prefix.Bits() != p.bits {
		return "", "the rule counts by /" + strconv.Itoa(p.bits) + ": name one of those"
	}
	return string(appendIP(nil, addr, p.bits)), ""
}
