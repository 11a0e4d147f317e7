package sqllimit

import "strings"

// scanner cuts a query into the few kinds of tokens that its class depends on.
// It allocates nothing.
type scanner struct {
	text string
	at   int
	last kind // of the token that was read last
}

type token struct {
	kind kind
	text string // of a word
}

type kind uint8

const (
	end       kind = iota
	word           // a keyword or a name without quotes
	open           // (
	closed         // )
	semicolon      // ;
	quote          // a string, a quoted name
	other          // a number, an operator
	unclosed       // a quote or comment of which it cannot be said where it ends
)

// next returns the next token; comments and spaces are skipped.
func (s *scanner) next() token {
	t := s.scan()
	s.last = t.kind
	return t
}

func (s *scanner) scan() token {
	for s.at < len(s.text) {
		b := s.text[s.at]
		switch {
		case letter(b):
			return s.word()
		case b <= ' ' || b == ',': // spaces, and control characters, which mean nothing
			s.at++
		case b == '-' && s.follows("--"):
			s.skipLine()
		case b == '/' && s.follows("/*!"): // MySQL runs what stands in it
			s.at += len("/*!")
		case b == '/' && s.follows("/*"):
			if !s.skipComment() {
				return token{kind: unclosed}
			}
		default:
			return token{kind: s.symbol(b)}
		}
	}
	return token{}
}

func (s *scanner) follows(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

func (s *scanner) word() token {
	from := s.at
	for s.at < len(s.text) && (letter(s.text[s.at]) || digit(s.text[s.at])) {
		s.at++
	}
	text := s.text[from:s.at]
	if len(text) == 1 && text[0]|0x20 == 'e' && s.follows("'") { // PostgreSQL: E'it\'s'
		return token{kind: s.quoted('\'', true)}
	}
	return token{kind: word, text: text}
}

// letters also has all of UTF-8 beyond ASCII: those are letters of names.
var letters, digits = func() (letters, digits [256]bool) {
	for b := range 256 {
		letters[b] = 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' || b >= 0x80
		digits[b] = '0' <= b && b <= '9'
	}
	return letters, digits
}()

func letter(b byte) bool { return letters[b] }
func digit(b byte) bool  { return digits[b] }

// symbol reads all that is neither word, space nor comment.
func (s *scanner) symbol(b byte) kind {
	switch b {
	case '\'', '"', '`':
		return s.quoted(b, false)
	case '$':
		return s.dollar()
	}
	s.at++
	switch b {
	case '(':
		return open
	case ')':
		return closed
	case ';':
		return semicolon
	}
	if digit(b) {
		for s.at < len(s.text) && (digit(s.text[s.at]) || letter(s.text[s.at])) {
			s.at++
		}
	}
	return other
}

// quoted skips a string or a quoted name. A doubled quote reads as two that follow
// each other, with the same end. A backslash before a quote ends the string in
// standard SQL and goes on with it in MySQL: then nobody knows what follows.
func (s *scanner) quoted(mark byte, escapes bool) kind {
	slashes := 0 // right before this byte
	for s.at++; s.at < len(s.text); s.at++ {
		switch b := s.text[s.at]; {
		case b == '\\':
			slashes++
			continue
		case b != mark || escapes && slashes%2 == 1:
		case slashes%2 == 1 && mark != '`':
			s.at = len(s.text)
			return unclosed
		default:
			s.at++
			return quote
		}
		slashes = 0
	}
	return unclosed
}

// dollar skips $tag$…$tag$ of PostgreSQL, or the $ of a parameter.
func (s *scanner) dollar() kind {
	stop := s.at + 1
	for stop < len(s.text) && (letter(s.text[stop]) || stop > s.at+1 && digit(s.text[stop])) {
		stop++
	}
	if stop == len(s.text) || s.text[stop] != '$' {
		s.at++
		return other
	}
	tag := s.text[s.at : stop+1]
	length := strings.Index(s.text[stop+1:], tag)
	if length < 0 {
		s.at = len(s.text)
		return unclosed
	}
	s.at = stop + 1 + length + len(tag)
	return quote
}

func (s *scanner) skipLine() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n + 1
		return
	}
	s.at = len(s.text)
}

// skipComment skips a comment and those within it.
func (s *scanner) skipComment() bool {
	depth := 0
	for s.at < len(s.text) {
		switch {
		case s.follows("/*"):
			depth++
			s.at += 2
		case s.follows("*/"):
			depth--
			s.at += 2
		default:
			s.at++
		}
		if depth == 0 {
			return true
		}
	}
	return false
}
