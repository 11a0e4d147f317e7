package rule

import (
	"fmt"
	"strings"
)

// Reason is why a rule matches or not.
type Reason struct {
	Rule    *Compiled
	Matches bool
	Field   string // which field decided: match.paths, skip.ips, key, mode
	Why     string // in words
}

// Explain tells of every rule whether it matches r, and if not, why. It tries them
// one by one, without the index.
func (s *Set) Explain(r *Request) []Reason {
	var x exchange
	odd := x.begin(s.core, r) && s.refuseAmbiguous
	reasons := make([]Reason, len(s.rules))
	for i, c := range s.rules {
		reason := &reasons[i]
		reason.Rule = c
		switch {
		case c.Mode == Off:
			reason.Field, reason.Why = "mode", "the rule is off"
		case odd && c.byPath:
			reason.Matches, reason.Field, reason.Why = c.explainAmbiguous(&x)
		default:
			reason.Matches, reason.Field, reason.Why = c.explain(&x)
		}
	}
	return reasons
}

// explain tells whether the rule applies to the request.
func (c *Compiled) explain(x *exchange) (matches bool, field, why string) {
	f := c.failing(x, c.asks)
	if f == fits {
		f = c.exempt(x)
	}
	key, from, ok := []byte(nil), 0, true
	if f == fits {
		key, from, ok = c.key.appendKey(nil, x)
	}
	switch {
	case f != fits:
		field, why = c.whyNot(x, f)
		return false, field, why
	case !ok && c.Missing == MissingDeny:
		return true, "key", c.missingPart(x) + " is missing, which the rule denies"
	case !ok:
		field, why = c.whyNot(x, keyField)
		return false, field, why
	}
	if i := c.skipKeys.find(key[from:]); i >= 0 {
		return false, at("skip.keys", i), "the key is exempt"
	}
	return true, "match", c.whyMatches(x)
}

// explainAmbiguous is explain for a rule that depends on a path that can be read in
// more than one way.
func (c *Compiled) explainAmbiguous(x *exchange) (matches bool, field, why string) {
	enforced, f := c.deniesAmbiguous(x, 0, nil)
	if f != fits {
		field, why = c.whyNot(x, f)
		return false, field, why
	}
	what := "the rule denies"
	if !enforced {
		what = "the rule would deny if it were enforced"
	}
	return true, "paths.ambiguous", fmt.Sprintf("the path %q can be read in more than one way, which %s", clip(x.request.Path), what)
}

func (c *Compiled) whyMatches(x *exchange) string {
	var why []string
	if len(c.methods) > 0 {
		why = append(why, x.request.Method)
	}
	if len(c.hosts.list) > 0 {
		why = append(why, "host "+clip(x.host))
	}
	if len(c.paths.list) > 0 {
		why = append(why, "path "+clip(c.paths.list[x.pattern].written()))
	}
	for _, h := range c.headers {
		why = append(why, "header "+h.name)
	}
	if len(c.ips.list) > 0 {
		why = append(why, "address "+x.ip.String())
	}
	for _, a := range c.attributes {
		why = append(why, "attribute "+clip(a.name))
	}
	if c.when != nil {
		why = append(why, "when "+clip(c.Match.When))
	}
	if why == nil {
		return "the rule is for every request"
	}
	return "fits " + strings.Join(why, ", ")
}

// whyNot says which value did not fit, and what would.
func (c *Compiled) whyNot(x *exchange, f field) (name, why string) {
	switch f {
	case methodsField:
		return "match.methods", fmt.Sprintf("method %q is not %s", clip(x.request.Method), some(c.Match.Methods))
	case hostsField:
		return "match.hosts", fmt.Sprintf("host %q is not %s", clip(x.host), some(c.Match.Hosts))
	case pathsField:
		return "match.paths", fmt.Sprintf("path %q is not %s", clip(x.path), some(c.Match.Paths))
	case ipsField:
		return "match.ips", fmt.Sprintf("address %v is not in %s", x.ip, some(c.Match.IPs))
	case skipIPsField:
		return "skip.ips", fmt.Sprintf("%v is exempt", x.ip)
	case skipHeadersField:
		return "skip.headers", c.exemptHeader(x)
	case skipKeysField:
		return "skip.keys", "the key is exempt"
	case keyField:
		return "key", c.missingPart(x) + " is missing, so that the rule does not apply"
	case headersField:
		for _, h := range c.headers {
			if !h.fits(x) {
				return inMap("match.headers", h.name), unlike("header "+h.name, x.header(h.slot), h.value)
			}
		}
	case attributesField:
		for _, a := range c.attributes {
			if !a.fits(x) {
				return inMap("match.attributes", a.name), unlike("attribute "+clip(a.name), x.request.Attributes[a.name], a.value)
			}
		}
	}
	return "match.when", fmt.Sprintf("%q is not true", clip(c.Match.When))
}

func unlike(what, value, want string) string {
	if value == "" {
		return what + " is missing"
	}
	return fmt.Sprintf("%s is %q, not %q", what, clip(value), clip(want))
}

func (c *Compiled) exemptHeader(x *exchange) string {
	for _, h := range c.skipHeaders {
		if h.fits(x) {
			return fmt.Sprintf("whoever sends header %s: %s is exempt", h.name, clip(h.value))
		}
	}
	return ""
}

// missingPart returns the first part of the key that the request does not have.
func (c *Compiled) missingPart(x *exchange) string {
	for i := range c.key.parts {
		if p := &c.key.parts[i]; !p.ofPath() && p.value(x) == "" {
			return p.text
		}
	}
	return ""
}

// some lists entries, but not hundreds of them.
func some(entries []string) string {
	const most = 5
	if len(entries) > most {
		return strings.Join(entries[:most], ", ") + fmt.Sprintf(" or one of %d more", len(entries)-most)
	}
	return oneOf(entries)
}
