package httplimit

import (
	"net/http"
	"strconv"
	"unsafe"
)

// shortField is the one line of a header field together with its text, so that both
// take one piece of memory. longField is the same for longer names.
type (
	shortField struct {
		line [1]string
		text [48]byte
	}
	longField struct {
		line [1]string
		text [112]byte
	}
)

// numbers is the room that two numbers take at most, with what stands before them.
const numbers = 2 * (len(";r=") + 15)

func fieldMemory(size int) (line *[1]string, text []byte) {
	if size <= 48 {
		f := new(shortField)
		return &f.line, f.text[:0]
	}
	f := new(longField)
	return &f.line, f.text[:0] // moves elsewhere if a name is very long
}

// newField writes head, r behind nameR and, if it is not negative, t behind nameT.
func newField(head, nameR string, r int64, nameT string, t int64) []string {
	line, text := fieldMemory(len(head) + numbers)
	text = append(text, head...)
	text = append(text, nameR...)
	text = strconv.AppendInt(text, min(r, maxInteger), 10)
	if t >= 0 {
		text = append(text, nameT...)
		text = strconv.AppendInt(text, min(t, maxInteger), 10)
	}
	line[0] = unsafe.String(&text[0], len(text)) // nobody changes it from here on
	return line[:]
}

// addField sets a field. If a middleware further out has told of its limits already,
// both stand in the list.
func addField(h http.Header, name string, line []string) {
	if len(h) > 0 {
		if outer := h[name]; len(outer) > 0 {
			line = append(outer[:len(outer):len(outer)], line...)
		}
	}
	h[name] = line
}
