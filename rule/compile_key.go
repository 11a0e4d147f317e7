package rule

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
)

// compileKey makes ready what makes up the key.
func (c *compiler) compileKey(rep report, out *Compiled) {
	k := &out.key
	k.prefix = []byte(out.Name)
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
		p.slot = c.slot("Cookie")
	case variablePart:
		return p, compileVariable(rep, field, &p, out)
	}
	return p, true
}

// compileVariable finds the segment of a path variable in each path of the match.
func compileVariable(rep report, field string, p *part, out *Compiled) bool {
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
		if escaped, ok := out.keyValues(rep, at("skip.keys", i), values); ok {
			out.skipKeys.add(i, escaped)
		}
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
				out.checkOverride(rep, at(field+".keys", j), escaped)
				out.overrides.add(i, escaped)
			}
		}
		c.checkLimits(rep, field+".limits", out, o.Limits)
	}
}

// checkOverride finds keys that never come to their override.
func (c *Compiled) checkOverride(rep report, field string, values []string) {
	if i := c.skipKeys.covering(values); i >= 0 {
		rep.warn(field, "remove it here or there", "does nothing: the key is exempt by %s", at("skip.keys", i))
	} else if i := c.overrides.covering(values); i >= 0 {
		rep.warn(field, "remove it, or change the order", "does nothing: %s comes first and has the key too", at("overrides", i))
	}
}

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
		rep.fault(field, "give one for each part, in the order of key; * stands for any", "%d values for a key of %d parts", len(values), len(c.Key))
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

// canonical returns a value as it stands in a key; a hint tells how to write one that
// can never be there.
func (p *part) canonical(value string, fold bool) (escaped, hint string) {
	want := value
	switch {
	case value == "*":
		return value, ""
	case value == "":
		return "", "an empty value counts as missing; use * for any"
	case p.kind == ipPart:
		return p.canonicalIP(value)
	case p.kind == hostPart:
		want = canonicalHost(value)
	case p.kind == pathPart:
		path, _, ambiguous := canonicalPath(value, fold, nil)
		if want = path; ambiguous {
			return "", "write a path that cannot be read in more than one way"
		}
	case p.kind == constPart:
		want = p.name
	}
	if want != value {
		return "", "write " + want
	}
	return string(appendEscaped(nil, value)), ""
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
	x := exchange{ip: addr}
	text, _ := appendIP(nil, &x, p.bits)
	return string(text), ""
}

// compileRollout reads the share of keys.
func (c *compiler) compileRollout(rep report, out *Compiled) {
	out.rollout, out.rolloutSeed = wholeRollout, rolloutSeed(out.Name)
	if out.Rollout == "" {
		return
	}
	text, percent := strings.CutSuffix(out.Rollout, "%")
	share, err := strconv.ParseFloat(text, 64)
	if !percent {
		rep.fault("rollout", `write it with a percent sign, as in "10%"`, "%q has no percent sign", clip(out.Rollout))
		return
	}
	if err != nil || !(share >= 0 && share <= 100) {
		rep.fault("rollout", "use 0% to 100%", "%q is no share", clip(out.Rollout))
		return
	}
	out.rollout = uint64(share*wholeRollout/100 + 0.5)
}

// compileCost checks what requests cost.
func (c *compiler) compileCost(rep report, out *Compiled) {
	cost := &out.Cost
	checkCost := func(field string, n, least int64) {
		if n < least || n > algo.MaxCount {
			rep.fault(field, "use "+strconv.FormatInt(max(least, 1), 10)+" to 1e15", "%d is out of range", n)
		}
	}
	checkCost("cost.fixed", cost.Fixed, 1)
	checkCost("cost.bytes", cost.Bytes, 0)
	checkCost("cost.max", cost.Max, 0)
	for method, n := range cost.Methods {
		checkMethod(rep, inMap("cost.methods", method), method)
		checkCost(inMap("cost.methods", method), n, 1)
	}
	if cost.Header != "" {
		if name, ok := headerName(rep, "cost.header", cost.Header); ok {
			out.costSlot = c.slot(name)
		}
	}
	if cost.Response != "" {
		headerName(rep, "cost.response", cost.Response)
	}
	if cost.Bytes > 0 && cost.Max == 0 {
		rep.fault("cost.max", "say what a body of unknown length costs, and the most that a long one can", "missing, and bytes needs it")
	}
	if cost.Max > 0 && cost.Bytes == 0 && cost.Header == "" {
		rep.fault("cost.max", "leave it out", "does nothing without header or bytes")
	}
}
