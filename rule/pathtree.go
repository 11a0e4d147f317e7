package rule

import "strings"

// pattern is a path of a rule: its segments, of which some are variables, and
// whether everything below it is meant too.
type pattern struct {
	text     string // canonical, with the names of variables
	segments []string
	names    []string // of the variables; "" where the segment is literal
	literal  bool     // there are no variables
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
func (p *pattern) exact() (string, bool) { return p.text, p.literal && !p.below }

// matches reports whether a canonical path with segments that end at ends fits.
func (p *pattern) matches(path string, ends []int32) bool {
	n := len(p.segments)
	if len(ends) < n || len(ends) > n && !p.below || path == "*" {
		return false
	}
	if p.literal {
		return n == 0 || path[:ends[n-1]] == p.text
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

// pathTree finds the numbers, above 0, of all patterns that a path matches, by walking
// down its segments.
type pathTree struct {
	exact textTable // of patterns without variables, by the whole path
	nodes []pathNode
}

// pathNode is a place in the tree. Its children are numbers of others; no child is
// the root, so that 0 is none.
type pathNode struct {
	literal  textTable
	variable int32
	here     int32 // of the pattern that ends here
	below    int32 // of the pattern for this and everything below
}

// add puts a number at a pattern, in place of the one that is there.
func (t *pathTree) add(p *pattern, number int32) {
	if path, ok := p.exact(); ok {
		t.exact.add(path, number)
		return
	}
	if t.nodes == nil {
		t.nodes = make([]pathNode, 1)
	}
	at := int32(0)
	for i, s := range p.segments {
		at = t.child(at, s, p.names[i] != "")
	}
	if p.below {
		t.nodes[at].below = number
	} else {
		t.nodes[at].here = number
	}
}

// child returns the place of a segment under another place, which it may make.
func (t *pathTree) child(at int32, segment string, variable bool) int32 {
	n, fresh := &t.nodes[at], int32(len(t.nodes))
	child := n.variable
	if !variable {
		child = n.literal.find(segment)
	}
	if child != 0 {
		return child
	}
	if variable {
		n.variable = fresh
	} else {
		n.literal.add(segment, fresh)
	}
	t.nodes = append(t.nodes, pathNode{})
	return fresh
}

// find appends the numbers of all patterns that the canonical path matches.
func (t *pathTree) find(path string, ends, to []int32) []int32 {
	if path == "*" {
		return to
	}
	if t.exact.used > 0 {
		if number := t.exact.find(path); number != 0 {
			to = append(to, number)
		}
	}
	if len(t.nodes) > 0 {
		to = t.descend(0, path, ends, 0, to)
	}
	return to
}

// descend goes on at a place, with the segment of that number.
func (t *pathTree) descend(place int32, path string, ends []int32, depth int, to []int32) []int32 {
	for {
		n := &t.nodes[place]
		if n.below != 0 {
			to = append(to, n.below)
		}
		if depth >= len(ends) {
			if n.here != 0 {
				to = append(to, n.here)
			}
			return to
		}
		place = n.variable
		if n.literal.used > 0 {
			if literal := n.literal.find(segmentAt(path, ends, depth)); literal != 0 {
				if place != 0 {
					to = t.descend(place, path, ends, depth+1, to)
				}
				place = literal
			}
		}
		if place == 0 {
			return to
		}
		depth++
	}
}

// written returns the pattern as it stands in the rule.
func (p *pattern) written() string {
	if p.below {
		return strings.TrimSuffix(p.text, "/") + "/*"
	}
	return p.text
}
