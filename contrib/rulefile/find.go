package rulefile

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// find returns the node at a path such as limits[1].scope, or the deepest on the way
// to it that the file has: a limit that is plain text has no field "limit".
func (n *node) find(path string) *node {
	for path != "" {
		var next *node
		if next, path = n.step(path); next == nil {
			return n
		}
		n = next
	}
	return n
}

// step goes down by the first part of the path and returns what is left of it.
func (n *node) step(path string) (*node, string) {
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, "[") {
		number, rest, _ := strings.Cut(path[1:], "]")
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(n.items) {
			return nil, ""
		}
		return n.items[i], rest
	}
	// The longest name that fits: names of headers and attributes may hold dots.
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if v := n.get(path[:end]); v != nil {
			return v, path[end:]
		}
	}
	return nil, ""
}

// within returns the place of a part of a text, given as line and column from 0
// inside of it, if the file shows the text as it is; else where the text begins.
func (n *node) within(line, column int) (int, int) {
	lines := strings.Split(n.text, "\n")
	if line < 0 || line >= len(lines) {
		return n.line, n.column
	}
	if n.block {
		at := n.line + 1 + line
		shown := n.src.line(at)
		if indent := strings.Index(shown, lines[line]); indent >= 0 && strings.TrimSpace(shown[:indent]) == "" {
			return at, indent + column + 1
		}
		return n.line, n.column
	}
	rest := n.src.characters(n.line)[n.column-1:]
	skip := 0
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		skip = 1
	}
	rest = rest[min(skip, len(rest)):]
	if shown := rest[:min(utf8.RuneCountInString(n.text), len(rest))]; len(lines) == 1 && string(shown) == n.text {
		return n.line, n.column + skip + column
	}
	return n.line, n.column
}
