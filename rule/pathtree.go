package rule

import "strings"

// pattern is a path of a rule: its segments, of which some are variables, and
// whether everything below it is meant too.
type pattern struct {
	text     string // canonical, with the names of variables
	segments []string
	names    []string // of the variables; "" where the segment is literal
	below    bool
}

// shape is the pattern with its variables unnamed: patterns of one shape match the
// same paths.
func (p *pattern) shape() string {
	var b strings.Builder
	for i, s := range p.segments {
		b.WriteByte('/')
		if p.names[i] != "" {
			b.WriteString("{}")
		} else {
			b.WriteString(s)
		}
	}
	if p.below {
		b.WriteString("/*")
	}
	return b.String()
}

// exact returns the only path that the pattern matches, if there is only one.
func (p *pattern) exact() (string, bool) {
	for _, name := range p.names {
		if name != "" {
			return "", false
		}
	}
	return p.text, !p.below
}

// matches reports whether a canonical path with segments that end at ends fits.
func (p *pattern) matches(path string, ends []int32) bool {
	if len(ends) < len(p.segments) || len(ends) > len(p.segments) && !p.below || path == "*" {
		return false
	}
	for i, s := range p.segments {
		if p.names[i] == "" && segmentAt(path, ends, i) != s {
			return false
		}
	}
	return true
}

// variable returns the number of the segment with that name, or -1.
func (p *pattern) variable(name string) int {
	for i, n := range p.names {
		if n == name {
			return i
		}
	}
	return -1
}

// pathTree finds all patterns that a path matches, by walking down its segments.
type pathTree[T any] struct {
	exact map[string]*T // of patterns without variables, by the whole path
	root  pathNode[T]
}

type pathNode[T any] struct {
	literal  map[string]*pathNode[T]
	variable *pathNode[T]
	here     *T // of the pattern that ends here
	below    *T // of the pattern for this and everything below
}

// add puts a value at a pattern. A second value replaces the first.
func (t *pathTree[T]) add(p *pattern, value *T) {
	if path, ok := p.exact(); ok {
		if t.exact == nil {
			t.exact = map[string]*T{}
		}
		t.exact[path] = value
		return
	}
	n := &t.root
	for i, s := range p.segments {
		n = n.child(s, p.names[i] != "")
	}
	if p.below {
		n.below = value
	} else {
		n.here = value
	}
}

func (n *pathNode[T]) child(segment string, variable bool) *pathNode[T] {
	if variable {
		if n.variable == nil {
			n.variable = &pathNode[T]{}
		}
		return n.variable
	}
	if n.literal == nil {
		n.literal = map[string]*pathNode[T]{}
	}
	if n.literal[segment] == nil {
		n.literal[segment] = &pathNode[T]{}
	}
	return n.literal[segment]
}

// find appends the values of all patterns that the canonical path matches.
func (t *pathTree[T]) find(path string, ends []int32, to []*T) []*T {
	if path == "*" {
		return to
	}
	if value, ok := t.exact[path]; ok {
		to = append(to, value)
	}
	return t.root.find(path, ends, 0, to)
}

func (n *pathNode[T]) find(path string, ends []int32, depth int, to []*T) []*T {
	for {
		if n.below != nil {
			to = append(to, n.below)
		}
		if depth == len(ends) {
			if n.here != nil {
				to = append(to, n.here)
			}
			return to
		}
		var next *pathNode[T]
		if n.literal != nil {
			next = n.literal[segmentAt(path, ends, depth)]
		}
		depth++
		if next == nil {
			next = n.variable
		} else if n.variable != nil {
			to = n.variable.find(path, ends, depth, to)
		}
		if next == nil {
			return to
		}
		n = next
	}
}

// written returns the pattern as it stands in the rule.
func (p *pattern) written() string {
	if p.below {
		return strings.TrimSuffix(p.text, "/") + "/*"
	}
	return p.text
}
