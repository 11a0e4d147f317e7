package rulefile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is how much all files of a set may hold together, in bytes.
const MaxSize = 10 << 20

// source is one file as it was read.
type source struct {
	name  string
	data  []byte
	lines []string

	mergeKeys bool // they are allowed

	// The line that was looked at last, in characters: files of one long line are as
	// fast to read as others.
	number int
	runes  []rune
}

func newSource(name string, data []byte) *source {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// One kind of line end: the positions of the parser count on it.
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return &source{name: name, data: data}
}

// line returns line number n, from 1.
func (s *source) line(n int) string {
	if s.lines == nil {
		s.lines = strings.Split(string(s.data), "\n")
	}
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// characters returns line number n, from 1, cut into characters.
func (s *source) characters(n int) []rune {
	if n != s.number {
		s.number, s.runes = n, []rune(s.line(n))
	}
	return s.runes
}

// word returns the text without blanks, commas and brackets that begins at a place.
func (s *source) word(line, column int) string {
	runes := s.characters(line)
	runes = runes[min(max(column-1, 0), len(runes)):]
	if end := slices.IndexFunc(runes, func(r rune) bool { return strings.ContainsRune(" \t,[]{}\"'", r) }); end >= 0 {
		runes = runes[:end]
	}
	return string(runes)
}

// at returns a problem at a place.
func (s *source) at(line, column int, reason, hint string) Problem {
	return Problem{File: s.name, Line: line, Column: column, Reason: reason, Hint: hint, text: s.line(line)}
}

// read turns the file into nodes. Everything that would make the parser slow or
// leave something out in silence is refused before.
func (s *source) read() (*node, Problems) {
	if len(s.data) > MaxSize {
		return nil, Problems{{File: s.name, Reason: fmt.Sprintf("the file has %d bytes, more than the %d that are read", len(s.data), MaxSize), Hint: "split it, or make limits by key instead of a rule for each"}}
	}
	if p, bad := s.forbidden(); bad {
		return nil, Problems{p}
	}
	tokens, problem := s.tokens()
	if problem != nil {
		return nil, Problems{*problem}
	}
	file, err := parse(tokens)
	if err != nil {
		return nil, Problems{s.syntax(err)}
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType {
			body = doc.Body
		}
	}
	if body == nil {
		return nil, Problems{s.at(1, 1, "the file is empty", `write at least "rules: []"`)}
	}
	b := builder{src: s, anchors: map[string]*node{}}
	root := b.build(body)
	if b.full != nil {
		return nil, Problems{*b.full}
	}
	return root, b.problems
}

// parse keeps a fault of the parser from ending the program.
func parse(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file cannot be read as YAML: %v", r)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// place returns where a token begins. The parser counts a tab before it in.
func (s *source) place(t *token.Token) (line, column int) {
	line, column = t.Position.Line, max(t.Position.Column, 1)
	runes := s.characters(line)
	for i := column - 1; i < len(runes); i++ {
		if r := runes[i]; r != ' ' && r != '\t' {
			return line, i + 1
		}
	}
	return line, column
}

// forbidden finds the first character that no rule file has.
func (s *source) forbidden() (Problem, bool) {
	line, column := 1, 0
	for i := 0; i < len(s.data); {
		r, size := utf8.DecodeRune(s.data[i:])
		i += size
		column++
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && size == 1:
			return s.at(line, column, "the text is not UTF-8", "save the file as UTF-8"), true
		case r < ' ' && r != '\t' || r == 0x7f || r == '\u00a0' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return s.at(line, column, fmt.Sprintf("the character %U is not allowed", r), "remove it; it came in by copying, perhaps"), true
		}
	}
	return Problem{}, false
}
