package envoy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Convert writes the tree as a rule file of our own. What that cannot say stands there as
// a comment, and lost tells how many limits are not in it at all.
func (t *Tree) Convert() (text string, lost int) {
	var b strings.Builder
	b.WriteString(convertHeader)
	rules := 0
	for _, leaf := range t.leaves {
		if leaf.Unlimited {
			fmt.Fprintf(&b, "  # %s is unlimited: the rules beside it leave it out\n", comment(leaf.where()))
			continue
		}
		if key := repeated(leaf.Path); key != "" {
			fmt.Fprintf(&b, "  # NOT CONVERTED: %s has the key %q twice, and a request has an attribute once\n", comment(leaf.where()), key)
			lost++
			continue
		}
		rule, ok := t.convert(leaf)
		if !ok {
			fmt.Fprintf(&b, "  # NOT CONVERTED: %s has too much beside it: a condition that leaves that out would be too long\n", comment(leaf.where()))
			lost++
			continue
		}
		b.WriteString(rule)
		rules++
	}
	if rules == 0 {
		return strings.Replace(b.String(), "\nrules:\n", "\nrules: []\n", 1), lost
	}
	return b.String(), lost
}

const convertHeader = `# Made from descriptors of envoyproxy/ratelimit. The entries of all descriptors of a call
# are attributes of one request, so that this differs from there: a rule applies whatever
# stands beside its entries in the call, and an entry without a value is none.
rules:
`

// maxWhen is how long a condition may be.
const maxWhen = 4096

// convert writes one rule. It reports false if that cannot be.
func (t *Tree) convert(leaf *Leaf) (text string, ok bool) {
	var b strings.Builder
	for _, note := range leaf.notes() {
		fmt.Fprintf(&b, "  # %s: %s\n", comment(leaf.where()), note)
	}
	fmt.Fprintf(&b, "  - name: %s\n", strconv.Quote(strings.TrimPrefix(leaf.Rule, prefix)))
	attributes := []string{"domain: " + strconv.Quote(leaf.Domain)}
	var keys, when, skip []string
	at := t.domains[leaf.Domain]
	if strings.Contains(leaf.Domain, "*") { // which stands for anything in a match
		when = append(when, `attribute("domain") == `+strconv.Quote(leaf.Domain))
	}
	for _, s := range leaf.Path {
		value := "*"
		if s.Value != "" && !strings.Contains(s.Value, "*") {
			value = s.Value
		}
		attributes = append(attributes, strconv.Quote(s.Key)+": "+strconv.Quote(value))
		others := at.others(s)
		if s.Value == "" || strings.Contains(s.Value, "*") && !s.Share {
			if len(others) > longList {
				skip, others = append(skip, skipped(others, len(keys), len(leaf.Vary))...), nil
			}
			keys = append(keys, strconv.Quote("attribute:"+s.Key))
		}
		when = append(when, at.conditions(s, others)...)
		at = &at.branch(s).next
	}
	when = append(when, at.deeper(leaf.Path)...)
	condition := strings.Join(when, " and ")
	if len(condition) > maxWhen || strings.Count(condition, "\"") > 4*longList {
		return "", false
	}
	fmt.Fprintf(&b, "    match:\n      attributes: {%s}\n", strings.Join(attributes, ", "))
	if len(when) > 0 {
		fmt.Fprintf(&b, "      when: %s\n", quoteLine(condition))
	}
	if len(skip) > 0 {
		fmt.Fprintf(&b, "    skip:\n      keys:\n        - %s\n", strings.Join(skip, "\n        - "))
	}
	if len(keys) > 0 {
		fmt.Fprintf(&b, "    key: [%s]\n", strings.Join(keys, ", "))
	}
	fmt.Fprintf(&b, "    limits: [%s]\n", strconv.Quote(leaf.Limit.String()))
	if leaf.Shadow {
		b.WriteString("    mode: shadow\n")
	}
	return b.String(), true
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

// notes tell what our format does not say.
func (l *Leaf) notes() (all []string) {
	if len(l.Replaces) > 0 {
		all = append(all, fmt.Sprintf("it replaces %q there; here both count: exclude one of them with when", l.Replaces))
	}
	if l.Quota {
		all = append(all, "it is in quota_mode there; here it refuses by itself")
	}
	if len(l.Metadata) > 0 {
		all = append(all, "its metadata are left out")
	}
	return all
}

// where names a leaf as people write it.
func (l *Leaf) where() string {
	words := []string{l.Domain}
	for _, s := range l.Path {
		word := s.Key
		if s.Value != "" {
			word += "=" + s.Value
		}
		words = append(words, word)
	}
	return strings.Join(words, " > ")
}

// comment makes a text fit into a line.
func comment(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// quoteLine writes a text between single quotes.
func quoteLine(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// repeated returns a key that a path has twice.
func repeated(path []Step) string {
	seen := map[string]bool{"domain": true}
	for _, s := range path {
		if seen[s.Key] {
			return s.Key
		}
		seen[s.Key] = true
	}
	return ""
}
