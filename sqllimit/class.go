package sqllimit

import (
	"fmt"
	"strings"
)

// Class is the kind of a statement, which decides what it costs. A classifier
// may use others than those named here: they cost 1 unless [WithCost] says
// otherwise.
type Class uint8

// The classes that [Classify] knows.
const (
	Free  Class = iota // needs neither a permit nor the rate: transaction control, an empty statement
	Read               // costs 1
	Write              // costs 2: it changes data, or locks rows to do so
)

func (c Class) String() string {
	switch c {
	case Free:
		return "free"
	case Read:
		return "read"
	case Write:
		return "write"
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// Classify tells the class of a statement from its words. A text of several
// statements is of the highest class among them. What is not known to read is
// taken for a write, and so is a text with a backslash right before a quote, which
// the databases read in different ways. It knows SQL's comments and quotes and the
// forms of the common databases, but no functions: SELECT of one that writes is a
// read.
func Classify(query string) Class { return weigh(query).class }

// weight is what a text asks of the database: its class, and how many statements of
// it read and write.
type weight struct {
	class         Class
	reads, writes int64
}

// weighed is how much of a text is looked at to count its statements.
const weighed = 64 << 10

func weigh(query string) (w weight) {
	s := scanner{text: query}
	for s.at < weighed || w.class < Write {
		first := s.next()
		if first.kind == end {
			break
		}
		if first.kind == semicolon {
			continue
		}
		class := statement(&s, first)
		w.class = max(w.class, class)
		switch class {
		case Read:
			w.reads++
		case Write:
			w.writes++
			s.skipStatement()
		}
	}
	return w
}

// skipStatement goes on to what follows the next semicolon.
func (s *scanner) skipStatement() {
	for s.last != semicolon && s.last != end && s.last != unclosed && s.at < weighed {
		s.next()
	}
}

// statement tells the class of the statement that begins with first, and reads on
// to its end if that matters.
func statement(s *scanner, first token) Class {
	for first.kind == open { // (SELECT …) UNION …
		first = s.next()
	}
	switch {
	case first.kind != word:
		return Write
	case first.is("EXPLAIN"):
		return explained(s)
	case first.is("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"):
		return control(s, first)
	case first.is("SELECT", "WITH", "VALUES", "TABLE"):
		return reading(s)
	case first.is("SET", "USE"):
		return reading(s)
	case first.is("SHOW", "DESCRIBE", "DESC", "FETCH", "RESET", "PRAGMA"):
		return rest(s, Read)
	}
	return Write
}

// control looks whether a statement only controls a transaction. BEGIN may also
// open a block that does anything.
func control(s *scanner, first token) Class {
	t := s.next()
	if first.is("START") && !t.is("TRANSACTION") {
		return Write
	}
	names := 0
	if first.is("SAVEPOINT", "RELEASE", "ROLLBACK") { // may be followed by any name
		names = 1
	}
	for ; t.kind != end && t.kind != semicolon; t = s.next() {
		if t.kind == other || t.kind == quote || t.is(controlWords...) {
			continue
		}
		if names--; names < 0 || t.kind != word {
			return Write
		}
	}
	return Free
}

var controlWords = []string{
	"TRANSACTION", "TRAN", "WORK", "AND", "NO", "CHAIN", "RELEASE", "ISOLATION", "LEVEL", "SERIALIZABLE", "REPEATABLE",
	"READ", "COMMITTED", "UNCOMMITTED", "ONLY", "WRITE", "NOT", "DEFERRABLE", "WITH", "CONSISTENT", "SNAPSHOT",
	"DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT", "TO", "SAVEPOINT",
}

// explained tells the class of what follows EXPLAIN: a plan is read, unless
// ANALYZE runs the statement.
func explained(s *scanner) Class {
	runs := false
	for t := s.next(); t.kind != end && t.kind != semicolon; t = s.next() {
		if t.kind == unclosed {
			return Write
		}
		if t.is("ANALYZE", "ANALYSE") {
			runs = true
		}
		if !t.is("SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE", "EXECUTE", "CALL", "DECLARE", "REFRESH") {
			continue
		}
		if !runs {
			return rest(s, Read)
		}
		return statement(s, t)
	}
	return Read
}

// reading looks whether something that begins like a read writes all the same:
// SELECT … FOR UPDATE, SELECT … INTO, WITH … DELETE. T-SQL needs no semicolon
// between statements, so a word that begins a write counts wherever it stands, save
// before a bracket, where it is a function, and at the end.
func reading(s *scanner) Class {
	var before token
	for t := s.next(); ; t = s.next() {
		switch {
		case t.kind == unclosed, t.is("INTO"):
			return Write
		case before.is("FOR") && t.is("UPDATE", "SHARE", "NO", "KEY"), before.is("LOCK") && t.is("IN"): // SHARE MODE
			return Write
		case before.is(writing...) && (t.kind == word || t.kind == quote || t.kind == other):
			return Write
		case t.kind == end, t.kind == semicolon:
			return Read
		}
		before = t
	}
}

var writing = []string{"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "DROP", "ALTER", "CREATE", "EXEC", "EXECUTE"}

// rest skips the rest of the statement.
func rest(s *scanner, class Class) Class {
	for {
		switch s.next().kind {
		case end, semicolon:
			return class
		case unclosed:
			return Write
		}
	}
}

// is reports whether the token is one of the words, which are in upper case.
func (t token) is(words ...string) bool {
	if t.kind != word {
		return false
	}
	for _, w := range words {
		if len(w) == len(t.text) && w[0] == t.text[0]&^0x20 && strings.EqualFold(w, t.text) {
			return true
		}
	}
	return false
}
