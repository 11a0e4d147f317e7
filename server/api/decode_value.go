package api

import (
	"strings"
	"unicode/utf8"
)

// field numbers the fields of a check.
type field uint8

const (
	fieldMethod field = iota
	fieldHost
	fieldPath
	fieldQuery
	fieldIP
	fieldUser
	fieldHeaders
	fieldAttributes
	fieldCost
	fieldLength
	fieldStatus
	fieldRequests
)

// fields is a set of them.
type fields uint16

// field reads the name of a field and the colon. A name that is not known or stands
// there twice is not ok.
func (d *decoder) field(seen *fields) (f field, ok bool) {
	name, ok := d.string()
	if !ok || !d.take(':') {
		return 0, false
	}
	switch name {
	case "method":
		f = fieldMethod
	case "host":
		f = fieldHost
	case "path":
		f = fieldPath
	case "query":
		f = fieldQuery
	case "ip":
		f = fieldIP
	case "user":
		f = fieldUser
	case "headers":
		f = fieldHeaders
	case "attributes":
		f = fieldAttributes
	case "cost":
		f = fieldCost
	case "length":
		f = fieldLength
	case "status":
		f = fieldStatus
	case "requests":
		f = fieldRequests
	default:
		return 0, false
	}
	if *seen&(1<<f) != 0 {
		return 0, false
	}
	*seen |= 1 << f
	return f, true
}

func (d *decoder) boolean() (value, ok bool) {
	d.skip()
	switch rest := d.text[d.at:]; {
	case strings.HasPrefix(rest, "true"):
		d.at += len("true")
		return true, true
	case strings.HasPrefix(rest, "false"):
		d.at += len("false")
		return false, true
	}
	return false, false
}

// integer reads a whole number of at most 18 digits.
func (d *decoder) integer() (n int64, ok bool) {
	negative := d.take('-')
	if !negative {
		d.skip()
	}
	from := d.at
	for d.at < len(d.text) && d.text[d.at]-'0' <= 9 {
		n = n*10 + int64(d.text[d.at]-'0')
		if d.at++; d.at-from > 18 {
			return 0, false
		}
	}
	if d.at == from || d.text[from] == '0' && d.at-from > 1 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// unescaped are the bytes that stand for themselves in a text, if all of it is ASCII.
var unescaped = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// string reads a text.
func (d *decoder) string() (string, bool) {
	if !d.take('"') {
		return "", false
	}
	text, i := d.text[d.at:], 0
	for i < len(text) && unescaped[text[i]] {
		i++
	}
	if i < len(text) && text[i] == '"' {
		d.at += i + 1
		return text[:i], true
	}
	return d.unusual(i)
}

// unusual reads a text with escapes or characters beyond ASCII; the first i bytes of it
// are none.
func (d *decoder) unusual(i int) (string, bool) {
	for text := d.text[d.at:]; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			d.at += i + 1
			return text[:i], utf8.ValidString(text[:i])
		case c == '\\':
			from := d.at
			d.at += i
			return d.escaped(from)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads the rest of a text that has escapes; d stands at the first of them.
func (d *decoder) escaped(from int) (string, bool) {
	text := append(make([]byte, 0, d.at-from+64), d.text[from:d.at]...)
	for d.at < len(d.text) {
		c := d.text[d.at]
		d.at++
		switch {
		case c == '"':
			return string(text), utf8.Valid(text)
		case c < ' ':
			return "", false
		case c == '\\':
			r, ok := d.escape()
			if !ok {
				return "", false
			}
			text = utf8.AppendRune(text, r)
		default:
			text = append(text, c)
		}
	}
	return "", false
}

// escape reads what follows a backslash. Halves of characters beyond 16 bits are not
// ok.
func (d *decoder) escape() (r rune, ok bool) {
	if d.at == len(d.text) {
		return 0, false
	}
	c := d.text[d.at]
	d.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'u':
		return d.hex()
	}
	return 0, false
}

// hex reads the four digits of \u.
func (d *decoder) hex() (r rune, ok bool) {
	if len(d.text)-d.at < 4 {
		return 0, false
	}
	for range 4 {
		c := d.text[d.at]
		d.at++
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, utf8.ValidRune(r)
}
