package envoy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// prefix begins the names of all rules that are made of descriptors.
const prefix = "envoy/"

// name gives a leaf its rule. Budgets belong to the name, so it depends on nothing but
// the way to the leaf.
func (b *builder) name(leaf *Leaf, d *object) {
	leaf.Rule = ruleName(leaf.Domain, leaf.Path)
	if b.names[leaf.Rule] {
		d.fault("key", "the name of its rule, "+leaf.Rule+", is taken", "use another key or value")
	}
	b.names[leaf.Rule] = true
	for i, s := range leaf.Path {
		if s.Value == "" || strings.Contains(s.Value, "*") && !s.Share {
			leaf.Vary = append(leaf.Vary, i)
			leaf.Attributes = append(leaf.Attributes, fmt.Sprintf("%s:%d:%s", leaf.Rule, i+1, s.Key))
		}
	}
}

// ruleName writes a path as envoy/domain.key/value.key. Where a name cannot hold a
// character, or would not tell where one word ends, a hash of all of it stands at the end.
func ruleName(domain string, path []Step) string {
	var b, exact strings.Builder
	plain := true
	word := func(sign, text string) {
		b.WriteString(sign)
		fmt.Fprintf(&exact, "%s%d:%s", sign, len(text), text)
		for _, r := range text {
			if isWord(r) {
				b.WriteRune(r)
			} else {
				b.WriteByte('-')
				plain = false
			}
		}
	}
	word("", domain)
	for _, s := range path {
		word(".", s.Key)
		if s.Value != "" {
			word("/", s.Value)
		}
	}
	name := b.String()
	if len(name) > maxName {
		name, plain = name[:maxName], false
	}
	if !plain {
		sum := sha256.Sum256([]byte(exact.String()))
		name += "-" + hex.EncodeToString(sum[:6])
	}
	return prefix + name
}

// maxName is how much of a way stands in a name.
const maxName = 96

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// Rules returns a rule for every limit of the tree. It applies to requests that have the
// attribute of its name, and its key is made of the attributes of the entries that vary.
func (t *Tree) Rules() []rule.Rule {
	if t == nil {
		return nil
	}
	var rules []rule.Rule
	for _, leaf := range t.leaves {
		if !leaf.Unlimited {
			rules = append(rules, leaf.rule())
		}
	}
	return rules
}

func (l *Leaf) rule() rule.Rule {
	r := rule.Rule{
		Name:   l.Rule,
		Match:  rule.Match{Attributes: map[string]string{l.Rule: "*"}},
		Limits: []rule.Limit{{Limit: l.Limit}},
	}
	for _, name := range l.Attributes {
		r.Key = append(r.Key, "attribute:"+name)
		r.Missing = rule.MissingShared // an empty value is one like others
	}
	if l.Shadow {
		r.Mode = rule.Shadow
	}
	return r
}

// Mark adds to attributes what makes the rule of the leaf apply to a descriptor.
func (l *Leaf) Mark(attributes map[string]string, entries []Entry) {
	attributes[l.Rule] = "yes"
	for i, at := range l.Vary {
		attributes[l.Attributes[i]] = entries[at].Value
	}
}

// Same reports whether two descriptors that come to the leaf have one budget.
func (l *Leaf) Same(a, b []Entry) bool {
	for _, at := range l.Vary {
		if a[at].Value != b[at].Value {
			return false
		}
	}
	return true
}
