package rule

// A request whose path is ambiguous is put to all rules that do not depend on the
// path. One that does cannot tell whether it is meant, so that it denies the request
// if everything else that it asks for fits.

// unreadText stands in a key for what depends on a path that cannot be read. No value
// looks like it, so that only a * fits.
const unreadText = "%?"

// matchAmbiguous is Match for such a request. If a rule refuses it, that rule is the
// only hit.
func (s *Set) matchAmbiguous(m *Matches) {
	x, root := &m.exchange, &s.nodes[s.blind]
	if s.refuses(root.rest, m) { // most often one that asks for nothing but paths
		return
	}
	m.found = root.collect(x, m.found)
	sortFound(m.found)
	if s.refuses(m.found, m) {
		return
	}
	m.found = s.nodes[0].collect(x, m.found)
	sortFound(m.found)
	for i, l := range m.found {
		switch {
		case i > 0 && l.rule() == m.found[i-1].rule():
		case !s.rules[l.rule()].byPath:
			s.hit(l, m)
		default:
			if h, ok := s.deny(l, m); ok {
				m.Hits = append(m.Hits, h)
			}
		}
	}
}

// refuses makes the first of the rules that refuses the request the only hit.
func (s *Set) refuses(leads []lead, m *Matches) bool {
	for _, l := range leads {
		if !s.rules[l.rule()].enforces {
			continue
		}
		if h, ok := s.deny(l, m); ok && h.Enforced {
			m.Hits, m.Ambiguous = append(m.Hits, h), true
			return true
		}
	}
	return false
}

// deny returns the denial by a rule that depends on the path, if all else fits.
func (s *Set) deny(l lead, m *Matches) (Hit, bool) {
	x, c := &m.exchange, s.rules[l.rule()]
	enforced, f := c.deniesAmbiguous(x, l.proven(), m.keys)
	if f != fits {
		return Hit{}, false
	}
	return Hit{Rule: c, Limits: s.limits[c.Index].base, Cost: c.costOf(x), Enforced: enforced, Denied: true, Ambiguous: true}, true
}

// deniesAmbiguous returns the field by which the rule does not apply whatever the path
// is, or fits, and then whether it is enforced. scratch is a buffer.
func (c *Compiled) deniesAmbiguous(x *exchange, proven fieldSet, scratch []byte) (enforced bool, _ field) {
	if f := c.failing(x, c.asksBlind&^proven); f != fits {
		return false, f
	}
	if f := c.exempt(x); f != fits {
		return false, f
	}
	values, ok := c.key.appendRead(scratch, x)
	values = values[len(scratch):]
	switch {
	case !ok && c.Missing == MissingSkip:
		return false, keyField
	case ok && c.skipKeys.find(values) >= 0:
		return false, skipKeysField
	}
	// With a part unknown it cannot be told whether the key is one of the share.
	known := ok && !c.key.readsPath()
	return c.enforces && (c.rollout == wholeRollout || known && c.rolledOut(values)), fits
}

// ofPath reports whether the part depends on the path. No request lacks it then.
func (p *part) ofPath() bool { return p.kind == pathPart || p.kind == variablePart }

// appendRead is appendValues with unreadText for the parts that depend on the path.
func (k *keyMaker) appendRead(to []byte, x *exchange) ([]byte, bool) {
	for i := range k.parts {
		p := &k.parts[i]
		to = append(to, '|')
		if p.ofPath() {
			to = append(to, unreadText...)
			continue
		}
		switch value := p.value(x); {
		case value != "":
			to = appendEscaped(to, value)
		case k.shared:
			to = append(to, missingText...)
		default:
			return to, false
		}
	}
	return to, true
}
