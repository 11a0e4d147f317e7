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
		t.convert(&b, leaf)
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

// convert writes one rule.
func (t *Tree) convert(b *strings.Builder, leaf *Leaf) {
	for _, note := range leaf.notes() {
		fmt.Fprintf(b, "  # %s: %s\n", comment(leaf.where()), note)
	}
	fmt.Fprintf(b, "  - name: %s\n", strconv.Quote(strings.TrimPrefix(leaf.Rule, prefix)))
	attributes := []string{"domain: " + strconv.Quote(leaf.Domain)}
	var keys, when []string
	at := t.domains[leaf.Domain]
	for _, s := range leaf.Path {
		value := "*"
		if s.Value != "" && !strings.Contains(s.Value, "*") {
			value = s.Value
		}
		attributes = append(attributes, strconv.Quote(s.Key)+": "+strconv.Quote(value))
		if s.Value == "" || strings.Contains(s.Value, "*") && !s.Share {
			keys = append(keys, strconv.Quote("attribute:"+s.Key))
		}
		when = append(when, at.conditions(s)...)
		at = &at.branch(s).next
	}
	when = append(when, at.deeper(leaf.Path)...)
	fmt.Fprintf(b, "    match:\n      attributes: {%s}\n", strings.Join(attributes, ", "))
	if len(when) > 0 {
		fmt.Fprintf(b, "      when: %s\n", quoteLine(strings.Join(when, " and ")))
	}
	if len(keys) > 0 {
		fmt.Fprintf(b, "    key: [%s]\n", strings.Join(keys, ", "))
	}
	fmt.Fprintf(b, "    limits: [%s]\n", strconv.Quote(leaf.Limit.String()))
	if leaf.Shadow {
		b.WriteString("    mode: shadow\n")
	}
}

// conditions say that a step is taken and no other that comes before it.
func (l *level) conditions(s Step) (when []string) {
	if s.Value != "" && !strings.Contains(s.Value, "*") {
		return nil
	}
	value := "attribute(" + strconv.Quote(s.Key) + ")"
	var exact []string
	for e := range l.exact {
		if e.Key == s.Key && !strings.Contains(e.Value, "*") {
			exact = append(exact, strconv.Quote(e.Value))
		}
	}
	if slices.Sort(exact); len(exact) > 0 {
		when = append(when, value+" not in ["+strings.Join(exact, ", ")+"]")
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
