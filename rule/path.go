package rule

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Paths are compared in one form, the canonical one: percent escapes decoded once,
// no empty segment, no "." and "..", no slash at the end, and case folded if that is
// asked for. A literal percent sign, question mark or number sign alone stays escaped,
// so that the form of a form is itself, and what a client escaped twice never becomes
// a dot or a slash.

// kinds of bytes in a path.
const (
	plainByte = iota
	slashByte
	upperByte   // A to Z: another byte if case is folded
	highByte    // part of UTF-8
	percentByte // an escape
	oddByte     // servers read it in different ways
	cutByte     // the path ends there
)

// The escapes that stay.
const (
	percentEscape  = "%25"
	questionEscape = "%3f" // in lower case, which folding does not change
	numberEscape   = "%23"
)

var pathBytes = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case c == '/':
			kinds[c] = slashByte
		case c >= 'A' && c <= 'Z':
			kinds[c] = upperByte
		case c >= utf8.RuneSelf:
			kinds[c] = highByte
		case c == '%':
			kinds[c] = percentByte
		case c == '\\' || c == ';' || c == 0:
			kinds[c] = oddByte
		case c == '?' || c == '#':
			kinds[c] = cutByte
		}
	}
	return kinds
}()

// scanPath reports whether p is canonical already, and appends to ends where each of
// its segments ends.
func scanPath(p string, fold bool, ends []int32) ([]int32, bool) {
	if len(p) < 2 || p[0] != '/' {
		return ends, p == "/"
	}
	start, before := 1, len(ends)
	for i := 0; i < len(p); i += 8 {
		w, slashes := uint64(0), uint64(0)
		switch {
		case len(p)-i >= 8:
			w = word(p[i:])
			slashes = equal(w, '/')
		case len(p) >= 8: // the last eight bytes, of which some have been seen
			w = word(p[len(p)-8:])
			slashes = equal(w, '/') >> (8 * (8 - (len(p) - i)))
		default:
			w = shortWord(p)
			slashes = equal(w, '/')
		}
		if oddInPath(w)&marks != 0 || fold && upper(w)&marks != 0 {
			return scanOddPath(p, fold, ends[:before])
		}
		if i == 0 {
			slashes &= slashes - 1 // not the one at the beginning
		}
		for ; slashes != 0; slashes &= slashes - 1 {
			at := i + bits.TrailingZeros64(slashes)/8
			if vanishes(p[start:at]) {
				return ends, false
			}
			ends = append(ends, int32(at))
			start = at + 1
		}
	}
	return append(ends, int32(len(p))), !vanishes(p[start:])
}

// oddInPath gives marks if there are bytes that have to be looked at one by one, or
// may be: percent and number signs and NUL are among those below the hyphen.
func oddInPath(w uint64) uint64 {
	return w | below(w, '-') | has(w, '\\') | has(w, ';') | has(w, '?')
}

// scanOddPath is scanPath for a path of two bytes or more with some that are odd.
func scanOddPath(p string, fold bool, ends []int32) ([]int32, bool) {
	start, high := 1, false
	for i := 1; i < len(p); i++ {
		switch pathBytes[p[i]] {
		case slashByte:
			if vanishes(p[start:i]) {
				return ends, false
			}
			ends = append(ends, int32(i))
			start = i + 1
		case upperByte:
			if fold {
				return ends, false
			}
		case highByte:
			high = true
		case percentByte:
			if !staysEscaped(p[i:]) {
				return ends, false
			}
		case oddByte, cutByte:
			return ends, false
		}
	}
	if vanishes(p[start:]) || high && (fold || !utf8.ValidString(p)) {
		return ends, false
	}
	return append(ends, int32(len(p))), true
}

// staysEscaped reports whether p begins with an escape that stays.
func staysEscaped(p string) bool {
	return strings.HasPrefix(p, percentEscape) || strings.HasPrefix(p, questionEscape) || strings.HasPrefix(p, numberEscape)
}

// vanishes reports whether a segment is not there in canonical form.
func vanishes(segment string) bool {
	return segment == "" || segment == "." || segment == ".."
}

// canonicalPath returns p in canonical form and where its segments end, in ends.
// ambiguous tells that servers may read p in another way; the form is then what one
// that decodes everything would see. Nothing is allocated if p is canonical.
func canonicalPath(p string, fold bool, ends []int32) (path string, _ []int32, ambiguous bool) {
	if ends, ok := scanPath(p, fold, ends[:0]); ok {
		return p, ends, false
	}
	if p == "*" { // OPTIONS for the server as a whole is no path
		return p, ends[:0], false
	}
	p, fragment := cutPath(p)
	p, ambiguous = pathOf(p)
	ambiguous = ambiguous || fragment
	if ends, ok := scanPath(p, fold, ends[:0]); ok {
		return p, ends, ambiguous
	}
	decoded, odd := decodePath(make([]byte, 0, len(p)+8), p)
	if !utf8.Valid(decoded) {
		odd = true
	} else if fold {
		decoded = []byte(strings.Map(unicode.ToLower, string(decoded)))
	}
	if fold {
		foldASCII(decoded)
	}
	resolved, above := resolvePath(decoded)
	path = string(resolved)
	return path, segmentEnds(path, ends[:0]), ambiguous || odd || above
}

// cutPath cuts a query off, and a fragment. That is not to be sent, and some servers
// take it for a part of the path.
func cutPath(p string) (path string, fragment bool) {
	end := strings.IndexAny(p, "?#")
	if end < 0 {
		return p, false
	}
	return p[:end], p[end] == '#'
}

// pathOf cuts a request target to its path: the absolute form of proxies has a
// scheme and a host in front. Any other text that does not begin with a slash is
// ambiguous.
func pathOf(p string) (path string, ambiguous bool) {
	if p == "" {
		return "/", false
	}
	if p[0] == '/' {
		return p, false
	}
	scheme, rest, ok := strings.Cut(p, "://")
	if !ok || !isScheme(scheme) {
		return "/" + p, true
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:], false
	}
	return "/", false
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !(c >= 'a' && c <= 'z') && (i == 0 || !(s[i] >= '0' && s[i] <= '9') && s[i] != '+' && s[i] != '-' && s[i] != '.') {
			return false
		}
	}
	return s != ""
}

// decodePath appends p with its escapes decoded. odd tells that it has bytes or
// escapes that servers read in different ways.
func decodePath(to []byte, p string) (_ []byte, odd bool) {
	for i := 0; i < len(p); i++ {
		c, escaped := p[i], false
		if c == '%' {
			var ok bool
			if c, ok = unhexPair(p[i+1:]); ok {
				i += 2
				escaped = true
			} else {
				c, odd = '%', true
			}
		}
		switch {
		case c == '%':
			to = append(to, percentEscape...)
			continue
		case c == '?':
			to = append(to, questionEscape...)
			continue
		case c == '#':
			to = append(to, numberEscape...)
			continue
		case pathBytes[c] == oddByte, c == '/' && escaped:
			odd = true
		}
		to = append(to, c)
	}
	return to, odd
}

// resolvePath takes empty and dot segments out of p, in place. above tells that ".."
// led out of the root.
func resolvePath(p []byte) (_ []byte, above bool) {
	out := p[:0]
	for i := 0; i < len(p); {
		end := i
		for end < len(p) && p[end] != '/' {
			end++
		}
		switch segment := string(p[i:end]); {
		case segment == "..":
			above = above || len(out) == 0
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
		case !vanishes(segment):
			// p[0] is a slash, so that out is always shorter than what was read.
			out = append(append(out, '/'), segment...)
		}
		i = end + 1
	}
	if len(out) == 0 {
		out = append(out, '/')
	}
	return out, above
}

func segmentEnds(path string, ends []int32) []int32 {
	if len(path) <= 1 {
		return ends
	}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			ends = append(ends, int32(i))
		}
	}
	return append(ends, int32(len(path)))
}

// segmentAt returns the i-th segment of a canonical path.
func segmentAt(path string, ends []int32, i int) string {
	start := int32(1)
	if i > 0 {
		start = ends[i-1] + 1
	}
	return path[start:ends[i]]
}

func foldASCII(p []byte) {
	for i, c := range p {
		if c >= 'A' && c <= 'Z' {
			p[i] = c | 0x20
		}
	}
}

// unhexPair reads the two hexadecimal digits at the start of s.
func unhexPair[T string | []byte](s T) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	hi, lo := unhex(s[0]), unhex(s[1])
	return hi<<4 | lo&15, hi < 16 && lo < 16
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}
