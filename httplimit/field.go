package httplimit

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// field is one telling of what remains of a limit, with all the memory that it needs,
// so that it is one piece: the text, and the lines of the header fields.
type field struct {
	r, t int64
	text string
	line lines
	room [64]byte
}

// lines are those of RateLimit and RateLimit-Policy.
type lines [2]string

// numbers is the room that two numbers take at most, with what stands before them.
const numbers = 2 * (len(";r=") + 15)

// newField writes head, r behind nameR and, if it is not negative, t behind nameT.
func newField(head, nameR string, r int64, nameT string, t int64) *field {
	f := &field{r: r, t: t}
	text := f.room[:0]
	if len(head)+numbers > len(f.room) {
		text = make([]byte, 0, len(head)+numbers)
	}
	text = append(text, head...)
	text = append(text, nameR...)
	text = strconv.AppendInt(text, min(r, maxInteger), 10)
	if t >= 0 {
		text = append(text, nameT...)
		text = strconv.AppendInt(text, min(t, maxInteger), 10)
	}
	f.text = unsafe.String(&text[0], len(text)) // nobody changes it from here on
	return f
}

// fields remembers what was told last. Many clients are told the same: most of them
// that they have used little.
type fields [64]atomic.Pointer[field]

func (f *fields) at(r int64) *atomic.Pointer[field] { return &f[uint64(r)%uint64(len(f))] }

// addField sets a field. If a middleware further out has told of its limits already,
// both stand in the list.
func addField(h http.Header, name string, line []string) {
	if outer := h[name]; len(outer) > 0 {
		line = append(outer[:len(outer):len(outer)], line...)
	}
	h[name] = line
}
