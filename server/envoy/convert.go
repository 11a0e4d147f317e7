package envoy

import (
	"fmt"
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
	d := t.draft(leaf)
	condition := strings.Join(d.when, " and ")
	if len(condition) > maxWhen || strings.Count(condition, `"`) > 4*longList {
		return "", false
	}
	var b strings.Builder
	for _, note := range leaf.notes() {
		fmt.Fprintf(&b, "  # %s: %s\n", comment(leaf.where()), note)
	}
	fmt.Fprintf(&b, "  - name: %s\n", strconv.Quote(strings.TrimPrefix(leaf.Rule, prefix)))
	fmt.Fprintf(&b, "    match:\n      attributes: {%s}\n", strings.Join(d.attributes, ", "))
	if condition != "" {
		fmt.Fprintf(&b, "      when: %s\n", quoteLine(condition))
	}
	if len(d.skip) > 0 {
		fmt.Fprintf(&b, "    skip:\n      keys:\n        - %s\n", strings.Join(d.skip, "\n        - "))
	}
	if len(d.key) > 0 {
		fmt.Fprintf(&b, "    key: [%s]\n", strings.Join(d.key, ", "))
	}
	fmt.Fprintf(&b, "    limits: [%s]\n", strconv.Quote(leaf.Limit.String()))
	if leaf.Shadow {
		b.WriteString("    mode: shadow\n")
	}
	return b.String(), true
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
