package envoy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// draft is what of a rule says to whom it applies.
type draft struct{ attributes, key, when, skip []string }

// draft follows the way to a leaf.
func (t *Tree) draft(leaf *Leaf) (d draft) {
	d.attributes = []string{"domain: " + strconv.Quote(leaf.Domain)}
	if strings.Contains(leaf.Domain, "*") { // which stands for anything in a match
		d.when = append(d.when, `attribute("domain") == `+strconv.Quote(leaf.Domain))
	}
	at := t.domains[leaf.Domain]
	for _, s := range leaf.Path {
		value := "*"
		if s.Value != "" && !strings.Contains(s.Value, "*") {
			value = s.Value
		}
		d.attributes = append(d.attributes, strconv.Quote(s.Key)+": "+strconv.Quote(value))
		others := at.others(s)
		if s.Value == "" || strings.Contains(s.Value, "*") && !s.Share {
			if len(others) > longList {
				d.skip, others = append(d.skip, skipped(others, len(d.key), len(leaf.Vary))...), nil
			}
			d.key = append(d.key, strconv.Quote("attribute:"+s.Key))
		}
		d.when = append(d.when, at.conditions(s, others)...)
		at = &at.branch(s).next
	}
	d.when = append(d.when, at.deeper(leaf.Path)...)
	return d
}

// longList is how many values a condition names: more are exempt as keys, which takes no
// time however many they are.
const longList = 50

// others returns the values for which the level has something else than a step for many.
func (l *level) others(s Step) (exact []string) {
	if s.Value != "" && !strings.Contains(s.Value, "*") {
		return nil
	}
	for e := range l.exact {
		if e.Key == s.Key && !strings.Contains(e.Value, "*") {
			exact = append(exact, strconv.Quote(e.Value))
		}
	}
	slices.Sort(exact)
	return exact
}

// skipped names keys by one of their parts.
func skipped(values []string, part, parts int) (keys []string) {
	for _, value := range values {
		key := slices.Repeat([]string{`"*"`}, parts)
		key[part] = value
		keys = append(keys, "["+strings.Join(key, ", ")+"]")
	}
	return keys
}

// conditions say that a step is taken and no other that comes before it: none of the
// others, and no pattern above it.
func (l *level) conditions(s Step, others []string) (when []string) {
	if s.Value != "" && !strings.Contains(s.Value, "*") {
		return nil
	}
	value := "attribute(" + strconv.Quote(s.Key) + ")"
	if len(others) > 0 {
		when = append(when, value+" not in ["+strings.Join(others, ", ")+"]")
	}
	for _, p := range l.patterns {
		if p.key != s.Key {
			continue
		}
		matches := value + " matches " + strconv.Quote(p.expression())
		if strings.Join(p.parts, "*") == s.Value {
			return append(when, matches)
		}
		when = append(when, "not ("+matches+")")
	}
	return when
}

// expression is the pattern as a regular one.
func (p *pattern) expression() string {
	parts := make([]string, len(p.parts))
	for i, part := range p.parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return "^(?s:" + strings.Join(parts, ".*") + ")$"
}

// deeper says that a request does not go on from here, as far as the file knows ways on.
func (l *level) deeper(path []Step) (when []string) {
	keys := map[string]bool{}
	for e := range l.exact {
		keys[e.Key] = true
	}
	for key := range l.bare {
		keys[key] = true
	}
	for _, s := range path {
		delete(keys, s.Key)
	}
	for key := range keys {
		when = append(when, "attribute("+strconv.Quote(key)+") == \"\"")
	}
	slices.Sort(when)
	return when
}

// branch returns where a step of the file leads.
func (l *level) branch(s Step) *branch {
	if s.Value == "" {
		return l.bare[s.Key]
	}
	return l.exact[s.Entry]
}
