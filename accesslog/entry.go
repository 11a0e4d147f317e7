package accesslog

import (
	"net/netip"
	"strings"
	"time"
)

// Entry is one request of a log. That of a [Log] and all its texts are good until the
// next: the memory is used again. Who keeps a text clones it with strings.Clone.
type Entry struct {
	Time   int64 // µs since 1970
	Coarse bool  // Time is the second in which it came; nothing is known of the fraction

	// Of a coarse entry: it is number Place (from 0) of the Among lines of its second.
	Place, Among int32

	Method string
	Host   string
	Path   string // as the client sent it, without the query
	Query  string
	IP     netip.Addr
	User   string
	Agent  string
	Key    string // whom a log of decisions names

	Status   int           // 0 if it is not known
	Bytes    int64         // of the answer
	Length   int64         // of the request's body; 0 if it is not known
	Cost     int64         // 0 if the log does not tell
	Duration time.Duration // of handling it; 0 if it is not known

	// More is what else the format was told to take: "header:NAME", "cookie:NAME" or
	// "attribute:NAME", and its value.
	More []Field

	serial uint64 // number of the line among those of its file
}

// Field is a named value.
type Field struct{ Name, Value string }

// At returns the time of the request.
func (e *Entry) At() time.Time { return time.UnixMicro(e.Time).UTC() }

// Header returns a header of the request as far as the log tells it. The name is
// compared without regard to case.
func (e *Entry) Header(name string) string {
	if e.Agent != "" && strings.EqualFold(name, "User-Agent") {
		return e.Agent
	}
	for i := range e.More {
		if f := &e.More[i]; len(f.Name) == len(headerPrefix)+len(name) &&
			f.Name[:len(headerPrefix)] == headerPrefix && strings.EqualFold(f.Name[len(headerPrefix):], name) {
			return f.Value
		}
	}
	return ""
}

// Prefixes of the names of More.
const (
	headerPrefix    = "header:"
	cookiePrefix    = "cookie:"
	attributePrefix = "attribute:"
)

// reset forgets the entry before.
func (e *Entry) reset() { *e = Entry{More: e.More[:0]} }

// Reason says why a line is no entry. The empty one means that it is.
type Reason string

// Reasons.
const (
	Blank     Reason = "blank line"
	Directive Reason = "directive or header line, no request"
	TooLong   Reason = "line longer than 64 KiB"
	Shape     Reason = "does not have the shape of the format"
	BadTime   Reason = "time stamp cannot be read"
	BadIP     Reason = "client address cannot be read"
	BadNumber Reason = "status, size or cost is no number"
	BadJSON   Reason = "is no JSON object"
	NoTime    Reason = "has no time stamp"
	Other     Reason = "is about something else than a request"
	Unsorted  Reason = "could not be kept in a temporary file to be sorted"
)

// MaxLine is how long a line may be, in bytes.
const MaxLine = 64 << 10
