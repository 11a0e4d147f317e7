package rulefile

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// syntax says where YAML itself is broken.
func (s *source) syntax(err error) Problem {
	broken, ok := err.(*yaml.SyntaxError)
	if !ok || broken.Token == nil {
		return s.at(1, 1, err.Error(), "")
	}
	line, column := s.place(broken.Token)
	return s.at(line, column, "broken YAML: "+broken.Message, s.syntaxHint(broken.Message, line, column))
}

// syntaxHint helps with the common mistakes, by what the parser says and what stands at
// the place.
func (s *source) syntaxHint(message string, line, column int) string {
	says := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case says("tab character"), says("'\t'"):
		return "indent with spaces, not with tabs"
	case s.character(line, column) == '{' && says("must be specified"):
		return fmt.Sprintf("a text with { in a [list] needs quotes: %q", s.aroundBrace(line, column))
	case s.isStar(line, column), s.isStar(line, column-1):
		return `put the star into quotes: "*"`
	case says("mapping value is not allowed"):
		return s.colonOrIndent(line, column)
	case says("value is not allowed"):
		return indentHint
	case says("non-map value"), says("unexpected key name"):
		return "a blank is missing after the colon, or the indentation is wrong"
	case says("reserved"), says("directive"):
		return "put the text into quotes"
	case says("',' or ']' must be specified"):
		return "close the list before it with ], or put a comma there"
	case says("',' or '}' must be specified"):
		return "close the map before it with }, or put a comma there"
	case says("could not find end"), says("not found"), says("could not find flow"):
		return "close it"
	}
	return ""
}

const indentHint = "check the indentation: all fields of a rule begin in the same column"

// colonOrIndent tells apart why a colon is one too many: in a text, or since the next
// line is indented deeper.
func (s *source) colonOrIndent(line, column int) string {
	trimmed := strings.TrimLeft(s.line(line), " ")
	if rest, dash := strings.CutPrefix(trimmed, "-"); dash && rest != "" && rest[0] != ' ' {
		return "put a blank after the dash"
	}
	runes := s.characters(line)
	if rest := string(runes[min(column, len(runes)):]); strings.Contains(rest, ": ") {
		return `a text with ": " in it needs quotes`
	}
	return indentHint
}

// character returns the one at a place, or 0.
func (s *source) character(line, column int) rune {
	runes := s.characters(line)
	if column < 1 || column > len(runes) {
		return 0
	}
	return runes[column-1]
}

// isStar reports whether a star stands alone at a place.
func (s *source) isStar(line, column int) bool {
	return s.character(line, column) == '*' && strings.ContainsRune("\x00 ,]}", s.character(line, column+1))
}

// aroundBrace returns the whole text of which a brace at a place is in the middle.
func (s *source) aroundBrace(line, column int) string {
	from, to := column, column
	for ; from > 1 && !strings.ContainsRune(" ,[", s.character(line, from-1)); from-- {
	}
	for ; !strings.ContainsRune("\x00 ,]", s.character(line, to)); to++ {
	}
	return string(s.characters(line)[from-1 : to-1])
}
