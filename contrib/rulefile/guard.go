package rulefile

import (
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// Bounds on the shape of a file. The parser's time grows with the square of the
// depth, and no rule file needs more.
const (
	maxDepth   = 32
	maxAnchors = 1000
	maxKeys    = 5000
)

// tokens cuts the file into tokens. It stops at the first that begins a shape which
// the parser is slow on or reads in another way than people do.
func (s *source) tokens() (tokens token.Tokens, problem *Problem) {
	defer func() { // a fault of the scanner must not end the program
		if r := recover(); r != nil {
			p := s.at(1, 1, fmt.Sprintf("the file cannot be read as YAML: %v", r), "")
			tokens, problem = nil, &p
		}
	}()
	var scan scanner.Scanner
	scan.Init(string(s.data))
	g := guard{keys: map[int]int{}}
	for {
		some, err := scan.Scan()
		if err == io.EOF {
			return tokens, nil
		}
		for _, t := range some {
			tokens.Add(t)
			if reason, hint := g.next(t); reason != "" {
				line, column := s.place(t)
				if t.Type == token.InvalidType {
					hint = s.syntaxHint(t.Error, line, column)
				}
				p := s.at(line, column, reason, hint)
				return nil, &p
			}
		}
		if err != nil {
			p := s.syntax(err)
			return nil, &p
		}
	}
}

// guard follows the shape of a file.
type guard struct {
	line    int // of the last token
	flow    int // open [ and {
	dashes  int // "- - -" on this line
	colons  int // "a: b: c:" on this line
	anchors int
	begun   bool // some content was seen
	marked  bool // --- was seen
	ended   bool // ... was seen

	keys map[int]int // of the maps that are open: by column, or by depth below 0
}

func (g *guard) next(t *token.Token) (reason, hint string) {
	if t.Position.Line != g.line {
		g.line, g.dashes, g.colons = t.Position.Line, 0, 0
	}
	switch t.Type {
	case token.CommentType, token.SpaceType:
		return "", ""
	case token.DirectiveType:
		return "YAML directives are not supported", "leave the line out"
	case token.DocumentHeaderType:
		if g.begun || g.marked || g.ended {
			return "a second document in the file", "put it into a file of its own, in the same directory"
		}
		g.marked = true
		return "", ""
	case token.DocumentEndType:
		g.ended = true
		return "", ""
	case token.TagType:
		return "YAML tags are not supported", "leave the tag out; put a number into quotes to make it text"
	case token.MappingKeyType:
		return "complex keys are not supported", `write "name: value"`
	case token.InvalidType:
		return "broken YAML: " + strings.ReplaceAll(t.Error, "'\t'", "tab"), ""
	}
	if g.ended {
		return "a second document in the file", "put it into a file of its own, in the same directory"
	}
	g.begun = true
	return g.depth(t)
}

func (g *guard) depth(t *token.Token) (reason, hint string) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		g.flow++
		g.keys[-g.flow] = 0
	case token.SequenceEndType, token.MappingEndType:
		g.flow--
	case token.SequenceEntryType:
		g.dashes++
		g.leave(t.Position.Column)
	case token.MappingValueType:
		column := -g.flow
		if g.flow == 0 && t.Prev != nil {
			g.colons++
			column = t.Prev.Position.Column
			g.leave(column)
		}
		if g.keys[column]++; g.keys[column] > maxKeys {
			return fmt.Sprintf("more than %d fields in one map", maxKeys), "write less in one file"
		}
	case token.AnchorType, token.AliasType:
		if g.anchors++; g.anchors > maxAnchors {
			return fmt.Sprintf("more than %d anchors and aliases", maxAnchors), "write the values out"
		}
	}
	if g.flow > maxDepth || g.dashes > maxDepth || g.colons > maxDepth || t.Position.IndentNum > 16*maxDepth {
		return "too deeply nested", ""
	}
	return "", ""
}

// leave forgets the maps that are indented deeper.
func (g *guard) leave(column int) {
	for c := range g.keys {
		if c > column {
			delete(g.keys, c)
		}
	}
}
