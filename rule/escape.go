package rule

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// appendEscaped appends a value so that it holds no bar, and no percent sign that
// does not begin an escape. Most values have four to 16 bytes: what was looked at is then
// written as it is, from both ends, which may overlap.
func appendEscaped(to []byte, value string) []byte {
	if n, at := len(value), len(to); n >= 4 && n <= 16 && cap(to)-at >= 16 {
		room := to[at : at+16]
		if n >= 8 {
			first, last := word(value), word(value[n-8:])
			if (oddInKey(first)|oddInKey(last))&marks == 0 {
				binary.LittleEndian.PutUint64(room, first)
				binary.LittleEndian.PutUint64(room[n-8:], last)
				return to[:at+n]
			}
		} else if first, last := halfWord(value), halfWord(value[n-4:]); oddInKey(first|last<<32)&marks == 0 {
			binary.LittleEndian.PutUint32(room, uint32(first))
			binary.LittleEndian.PutUint32(room[n-4:], uint32(last))
			return to[:at+n]
		}
	}
	if isPlain(value) {
		return append(to, value...)
	}
	return escapeEach(to, value)
}

// isPlain recognizes most values that need no escapes, by a look at all their bytes.
func isPlain(value string) bool {
	n := len(value)
	if n < 8 {
		return n == 0 || oddInKey(mixedWord(value))&marks == 0
	}
	odd := oddInKey(word(value[n-8:])) // some of it is looked at twice
	for i := 0; i < n-8; i += 8 {
		odd |= oddInKey(word(value[i:]))
	}
	return odd&marks == 0
}

// oddInKey gives marks if there may be bytes that need an escape.
func oddInKey(w uint64) uint64 { return w | below(w, ' ') | has(w, '%') | from(w, '|') }

// escapeEach escapes each byte that needs it.
func escapeEach(to []byte, value string) []byte {
	for i := 0; i < len(value); {
		c := value[i]
		r, size := utf8.DecodeRuneInString(value[i:])
		if r == utf8.RuneError && size == 1 || c < ' ' || c == 0x7f || c == '|' || c == '%' || size > 1 && isHidden(r) {
			for j := range size {
				to = appendEscape(to, value[i+j])
			}
		} else {
			to = append(to, value[i:i+size]...)
		}
		i += size
	}
	return to
}

// isHidden reports whether a rune changes how a log or a terminal shows what stands
// around it: controls, line ends, and marks of direction and format.
func isHidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

func appendEscape(to []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(to, '%', digits[c>>4], digits[c&15])
}
