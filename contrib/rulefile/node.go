package rulefile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// kind is what a node is.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// kindNames are for error messages.
var kindNames = [...]string{"nothing", "true or false", "a number", "text", "a list", "a map"}

// node is a value with its place.
type node struct {
	src          *source
	kind         kind
	line, column int
	text         string  // of scalars, as written
	block        bool    // text that was written as a | block
	broken       bool    // something is wrong with it that is reported already
	items        []*node // of a list
	fields       []field // of a map, in the order of the file
}

// field is one entry of a map.
type field struct {
	name         string
	line, column int
	value        *node
}

// problem returns one at the place of the node.
func (n *node) problem(reason, hint string) Problem {
	return n.src.at(n.line, n.column, reason, hint)
}

// get returns the value of a field, or nil.
func (n *node) get(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// maxNodes bounds how much aliases can blow a file up to.
const maxNodes = 1 << 20

// builder makes nodes of a parsed file.
type builder struct {
	src      *source
	anchors  map[string]*node
	nodes    int
	depth    int
	full     *Problem // it became too much: nothing else matters then
	problems Problems
}

func (b *builder) fail(t *token.Token, reason, hint string) {
	line, column := b.src.place(t)
	b.problems = append(b.problems, b.src.at(line, column, reason, hint))
}

// overflow notes the first place where it was too much.
func (b *builder) overflow(t *token.Token, reason string) {
	if b.full == nil {
		line, column := b.src.place(t)
		p := b.src.at(line, column, reason, "write less in one file")
		b.full = &p
	}
}

// build returns the node for a, a null if it cannot be read. What went wrong is
// noted.
func (b *builder) build(a ast.Node) *node {
	n := &node{src: b.src}
	t := a.GetToken()
	n.line, n.column = b.src.place(t)
	b.depth++
	defer func() { b.depth-- }()
	if b.nodes++; b.nodes > maxNodes || b.depth > 4*maxDepth {
		b.overflow(t, "too much or too deeply nested")
		return n
	}
	switch a := a.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.text = boolKind, strconv.FormatBool(a.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = numberKind, t.Value
	case *ast.StringNode:
		n.kind, n.text = textKind, a.Value
	case *ast.LiteralNode:
		n.kind, n.text, n.block = textKind, a.Value.Value, strings.HasPrefix(t.Value, "|")
	case *ast.SequenceNode:
		n.kind = listKind
		for _, item := range a.Values {
			n.items = append(n.items, b.build(item))
		}
	case *ast.MappingNode:
		b.mapping(n, a.Values)
	case *ast.MappingValueNode:
		b.mapping(n, []*ast.MappingValueNode{a})
	case *ast.AnchorNode:
		return b.anchor(a)
	case *ast.AliasNode:
		return b.alias(a)
	default:
		b.fail(t, fmt.Sprintf("%s is not supported here", strings.ToLower(a.Type().YAMLName())), "")
		n.broken = true
	}
	return n
}

// mapping fills n with fields, each of which may be there once.
func (b *builder) mapping(n *node, values []*ast.MappingValueNode) {
	n.kind = mapKind
	seen := make(map[string]int, len(values))
	var merged []*node
	for i, v := range values {
		t := v.Key.GetToken()
		line, column := b.src.place(t)
		if i == 0 && n.src.line(n.line) != "" && !startsFlow(n) {
			n.line, n.column = line, column // the parser says where the colon is
		}
		switch v.Key.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		case *ast.MergeKeyNode:
			if b.src.mergeKeys {
				merged = append(merged, b.build(v.Value))
				continue
			}
			b.fail(t, "merge keys (<<) are not supported", "give the anchor to a whole value and use that: limits: *usual")
			n.broken = true
			continue
		default:
			b.fail(t, "this cannot be the name of a field", "")
			n.broken = true
			continue
		}
		name := t.Value
		if first, twice := seen[name]; twice {
			b.fail(t, fmt.Sprintf("the field %q is set twice: the first is in line %d", name, first), twiceHint(name))
			continue
		}
		seen[name] = line
		value := b.build(v.Value)
		if value.kind == nullKind && !value.broken {
			value.line, value.column = line, column // there is nothing to point at
		}
		n.fields = append(n.fields, field{name: name, line: line, column: column, value: value})
	}
	for _, m := range merged {
		b.merge(n, m, seen)
	}
}

// merge gives n the fields of a map that it has not, or of several: the first counts.
func (b *builder) merge(n, from *node, seen map[string]int) {
	switch from.kind {
	case listKind:
		for _, one := range from.items {
			b.merge(n, one, seen)
		}
	case mapKind:
		for _, f := range from.fields {
			if _, has := seen[f.name]; !has {
				seen[f.name] = f.line
				n.fields = append(n.fields, f)
			}
		}
	default:
		b.problems = append(b.problems, from.problem("only a map can be merged, or a list of maps", "write <<: *usual, where &usual stands before a map"))
	}
}

// startsFlow reports whether the map is written with braces.
func startsFlow(n *node) bool {
	line := n.src.characters(n.line)
	return n.column <= len(line) && line[n.column-1] == '{'
}

// anchor reads the value and keeps it for aliases.
func (b *builder) anchor(a *ast.AnchorNode) *node {
	name := a.Name.GetToken().Value
	if _, twice := b.anchors[name]; twice {
		b.fail(a.GetToken(), fmt.Sprintf("the anchor &%s is set twice", name), "choose another name")
	}
	n := b.build(a.Value)
	b.anchors[name] = n
	return n
}

// alias returns what its anchor holds. It counts as if it were written out.
func (b *builder) alias(a *ast.AliasNode) *node {
	t := a.GetToken()
	name := a.Value.GetToken().Value
	n := b.anchors[name]
	if n == nil {
		b.fail(t, fmt.Sprintf("there is no anchor &%s above", name), aliasHint(name))
		line, column := b.src.place(t)
		return &node{src: b.src, line: line, column: column, broken: true}
	}
	if b.nodes += n.size(maxNodes - b.nodes); b.nodes >= maxNodes {
		b.overflow(t, "aliases make the file too large")
	}
	return n
}

// size counts nodes, up to a bound.
func (n *node) size(most int) int {
	total := 1
	for _, item := range n.items {
		if total >= most {
			return total
		}
		total += item.size(most - total)
	}
	for _, f := range n.fields {
		if total >= most {
			return total
		}
		total += f.value.size(most - total)
	}
	return total
}
