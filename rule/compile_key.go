package rule

import (
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// compileKey makes ready what makes up the key.
func (c *compiler) compileKey(rep report, out *Compiled) {
	k := &out.key
	k.name = out.Name
	k.shared = out.Missing == MissingShared
	k.fold = c.core.config.Paths.FoldCase
	for i, text := range out.Key {
		p, ok := c.compilePart(rep, at("key", i), text, out)
		if !ok {
			continue
		}
		if slices.ContainsFunc(k.parts, func(o part) bool { return o.kind == p.kind && o.name == p.name && p.kind != constPart }) {
			rep.fault(at("key", i), "leave one out", "%q is there twice", clip(text))
		}
		k.parts = append(k.parts, p)
	}
	if len(k.parts) > 0 {
		k.name += "|"
	}
	copy(k.head[:], k.name)
	if out.Hash {
		if k.secret = c.secret; k.secret == nil {
			rep.fault("hash", "give the secret with the option rule.HashKey", "there is no secret to hash keys with")
		}
	}
	if out.Tag != "" {
		c.compileTag(rep, out)
	}
	c.compileSkipKeys(rep, out)
}

func (c *compiler) compilePart(rep report, field, text string, out *Compiled) (part, bool) {
	p, reason, hint := parsePart(text)
	if reason != "" || p.kind == headerPart && !isToken(p.name) {
		if several := severalParts(text); several != nil {
			reason, hint = "unknown part "+strconv.Quote(clip(text)), "write ["+strings.Join(several, ", ")+"]"
		} else if looksLikeHeader(text) {
			hint = "did you mean " + strconv.Quote("header:"+clip(text)) + "?"
		}
	}
	if reason != "" {
		rep.fault(field, hint, "%s", reason)
		return p, false
	}
	switch p.kind {
	case headerPart:
		name, ok := headerName(rep, field, p.name)
		if !ok {
			return p, false
		}
		p.name, p.slot = name, c.slot(name)
	case cookiePart:
		if !isToken(p.name) {
			rep.fault(field, "use a name without spaces and signs", "%q cannot be the name of a cookie", clip(p.name))
			return p, false
		}
	case variablePart:
		return p, compileVariable(rep, field, &p, out)
	}
	return p, true
}

// severalParts returns the parts of a text in which somebody wrote more than one, or
// nil.
func severalParts(text string) []string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("+,;|& ", r) })
	for _, part := range parts {
		if _, reason, _ := parsePart(part); reason != "" {
			return nil
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// looksLikeHeader reports whether a text can hardly be anything else than the name of
// a header field.
func looksLikeHeader(text string) bool {
	name := textproto.CanonicalMIMEHeaderKey(text)
	return isToken(text) && strings.Contains(strings.Trim(text, "-"), "-") && (text[0] == name[0] || strings.HasPrefix(name, "X-")) ||
		slices.Contains([]string{"Authorization", "Origin", "Referer"}, name)
}

// compileVariable finds the segment of a path variable in each path of the match.
func compileVariable(rep report, field string, p *part, out *Compiled) bool {
	if len(out.paths.list) != len(out.Match.Paths) { // one is wrong, which was told already
		return false
	}
	if len(out.paths.list) == 0 {
		rep.fault(field, "add match.paths with {"+p.name+"} in it", "the match has no paths with variables")
		return false
	}
	for i := range out.paths.list {
		pattern := &out.paths.list[i]
		segment := pattern.variable(p.name)
		if segment < 0 {
			names := slices.DeleteFunc(slices.Clone(pattern.names), func(n string) bool { return n == "" })
			hint := "put {" + p.name + "} into every path of the match"
			if near := suggest(p.name, names...); strings.HasPrefix(near, "did") {
				hint = near
			}
			rep.fault(field, hint, "%q has no variable %q", clip(pattern.text), clip(p.name))
			return false
		}
		p.segments = append(p.segments, segment)
	}
	return true
}

// compileTag makes the tag ready. It has to be a part of the key, else requests with
// equal keys and different tags would have different budgets.
func (c *compiler) compileTag(rep report, out *Compiled) {
	p, ok := c.compilePart(rep, "tag", out.Tag, out)
	if !ok {
		return
	}
	if p.kind != constPart && !slices.Contains(out.Key, out.Tag) {
		rep.fault("tag", "add it to key", "%q is no part of the key", clip(out.Tag))
	}
	out.key.tag = &p
}

// compileSkip makes ready who is exempt; keys come later.
func (c *compiler) compileSkip(rep report, out *Compiled) {
	out.skipIPs = makePrefixes(compilePrefixes(rep, "skip.ips", out.Skip.IPs))
	out.skipHeaders = c.compileHeaders(rep, "skip.headers", out.Skip.Headers)
}

func (c *compiler) compileSkipKeys(rep report, out *Compiled) {
	for i, values := range out.Skip.Keys {
		escaped, ok := out.keyValues(rep, at("skip.keys", i), values)
		if !ok {
			continue
		}
		if first := out.skipKeys.covering(escaped); first >= 0 {
			rep.warn(at("skip.keys", i), "leave it out", "does nothing: %s has it already", at("skip.keys", first))
		}
		out.skipKeys.add(i, escaped)
	}
}

// compileOverrides makes ready who gets other limits.
func (c *compiler) compileOverrides(rep report, out *Compiled) {
	for i, o := range out.Overrides {
		field := at("overrides", i)
		if len(o.Keys) == 0 {
			rep.fault(field+".keys", "name the keys that it is for", "no keys")
		}
		for j, values := range o.Keys {
			if escaped, ok := out.keyValues(rep, at(field+".keys", j), values); ok {
				out.checkOverride(rep, at(field+".keys", j), i, escaped)
				out.overrides.add(i, escaped)
			}
		}
		c.checkLimits(rep, field+".limits", out, o.Limits)
	}
}

// checkOverride finds keys that never come to their override.
func (c *Compiled) checkOverride(rep report, field string, number int, values []string) {
	if i := c.skipKeys.covering(values); i >= 0 {
		rep.warn(field, "remove it here or there", "does nothing: the key is exempt by %s", at("skip.keys", i))
		return
	}
	switch i := c.overrides.covering(values); {
	case i == number:
		rep.warn(field, "leave it out", "does nothing: an entry before it has the key too")
	case i >= 0:
		rep.warn(field, "remove it, or change the order", "does nothing: %s comes first and has the key too", at("overrides", i))
	}
}
