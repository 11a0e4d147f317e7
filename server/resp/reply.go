package resp

import "strconv"

// reply is what a client gets, in the version of the protocol that it chose.
type reply struct {
	out []byte
	v3  bool // RESP3
}

func (r *reply) line(kind byte, n int64) { r.out = appendLine(append(r.out, kind), n) }

// appendLine appends a number and the end of its line.
func appendLine(out []byte, n int64) []byte {
	if n >= 0 && n < 10 { // most of them
		return append(out, '0'+byte(n), '\r', '\n')
	}
	return append(strconv.AppendInt(out, n, 10), '\r', '\n')
}

func (r *reply) integer(n int64) { r.line(':', n) }

// array announces n values.
func (r *reply) array(n int) { r.line('*', int64(n)) }

// fields announces n pairs of name and value.
func (r *reply) fields(n int) {
	if r.v3 {
		r.line('%', int64(n))
		return
	}
	r.line('*', 2*int64(n))
}

func (r *reply) text(s string) {
	r.line('$', int64(len(s)))
	r.out = append(append(r.out, s...), '\r', '\n')
}

func (r *reply) bytes(b []byte) {
	r.line('$', int64(len(b)))
	r.out = append(append(r.out, b...), '\r', '\n')
}

// yes is a truth value; RESP2 has none, and gets 1 or 0.
func (r *reply) yes(b bool) {
	switch {
	case r.v3 && b:
		r.out = append(r.out, "#t\r\n"...)
	case r.v3:
		r.out = append(r.out, "#f\r\n"...)
	case b:
		r.integer(1)
	default:
		r.integer(0)
	}
}

func (r *reply) null() {
	if r.v3 {
		r.out = append(r.out, "_\r\n"...)
		return
	}
	r.out = append(r.out, "$-1\r\n"...)
}

func (r *reply) ok() { r.status("OK") }

func (r *reply) status(word string) {
	r.out = append(append(append(r.out, '+'), word...), '\r', '\n')
}

// fail is an error. What of it a client has chosen is to be given through shown.
func (r *reply) fail(text string) {
	r.out = append(append(append(r.out, '-'), text...), '\r', '\n')
}

// maxShown is how much of a client's words is repeated to it.
const maxShown = 64

// shown is what a client sent, so that it can stand in an error: on one line, without
// control characters, and not long.
func shown(word []byte) string {
	cut := word[:min(len(word), maxShown)]
	text := make([]byte, 0, maxShown+3)
	for _, c := range cut {
		if c < ' ' || c >= 0x7f {
			c = '?'
		}
		text = append(text, c)
	}
	if len(word) > maxShown {
		text = append(text, "..."...)
	}
	return string(text)
}

// shownAll is a text of ours that may hold something of a client's.
func shownAll(text string) string {
	clean := []byte(text)
	for i, c := range clean {
		if c < ' ' || c == 0x7f {
			clean[i] = '?'
		}
	}
	return string(clean)
}
