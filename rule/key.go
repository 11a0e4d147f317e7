package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sluice-limiter/sluice/store"
)

// A key at the store is the rule's name, and the parts, each after a bar:
//
//	login|203.0.113.7|ann
//
// In a part, bars, percent signs, control bytes and what is not UTF-8 are written as
// %XX, so that no two lists of values look alike. A percent sign with anything but
// two digits after it is none of those: %- is a part that is missing, and %sha256-
// and %hmac- begin a hash that stands for all parts. A tag stands in braces in front
// of the name, which has none.
const (
	missingText = "%-"
	longText    = "%sha256-"
	secretText  = "%hmac-"
	maxTag      = 128 // a longer one is hashed
)

// partKind says where a part of a key comes from.
type partKind uint8

const (
	ipPart partKind = iota
	userPart
	hostPart
	methodPart
	pathPart
	headerPart
	cookiePart
	variablePart
	queryPart
	attributePart
	constPart
)

// part is one part of a key.
type part struct {
	text     string // as the rule has it
	kind     partKind
	name     string
	bits     int   // ip: the prefix of IPv6 addresses
	slot     int   // header: its number in the set
	segments []int // path variable: its segment in each path of the match
}

// append appends the value of the part, escaped; false means that it is missing.
func (p *part) append(to []byte, x *exchange) ([]byte, bool) {
	value := ""
	switch p.kind {
	case ipPart:
		return appendIP(to, x, p.bits)
	case userPart:
		value = x.request.User
	case hostPart:
		value = x.host
	case methodPart:
		value = x.request.Method
	case pathPart:
		value = x.path
	case headerPart:
		value = x.header(p.slot)
	case cookiePart:
		value = cookie(x.header(p.slot), p.name)
	case variablePart:
		value = segmentAt(x.path, x.ends, p.segments[x.pattern])
	case queryPart:
		x.text = appendQuery(x.text[:0], x.request.Query, p.name)
		return appendEscaped(to, x.text), len(x.text) > 0
	case attributePart:
		value = x.request.Attributes[p.name]
	case constPart:
		value = p.name
	}
	return appendEscaped(to, value), value != ""
}

func appendIP(to []byte, x *exchange, bits int) ([]byte, bool) {
	if x.ip.Is4() {
		return x.ip.AppendTo(to), true
	}
	prefix, err := x.ip.Prefix(bits)
	if err != nil || !x.ip.IsValid() {
		return to, false
	}
	if bits == 128 {
		return x.ip.AppendTo(to), true
	}
	return prefix.AppendTo(to), true
}

// safeBytes need no escape in a key.
var safeBytes = func() (safe [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		safe[c] = c != '|' && c != '%'
	}
	return safe
}()

// appendEscaped appends a value so that it holds no bar, and no percent sign that
// does not begin an escape.
func appendEscaped[T string | []byte](to []byte, value T) []byte {
	i := 0
	for i < len(value) && safeBytes[value[i]] {
		i++
	}
	to = append(to, value[:i]...)
	for i < len(value) {
		c := value[i]
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(string(value[i:min(len(value), i+utf8.UTFMax)])); r == utf8.RuneError && size == 1 {
				to = appendEscape(to, c)
				i++
				continue
			}
		} else if !safeBytes[c] {
			to = appendEscape(to, c)
			i++
			continue
		}
		to = append(to, value[i:i+size]...)
		i += size
	}
	return to
}

func appendEscape(to []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(to, '%', digits[c>>4], digits[c&15])
}

// keyMaker makes the keys of one rule.
type keyMaker struct {
	prefix []byte // the rule's name
	parts  []part
	tag    *part
	shared bool // a missing part is no obstacle
	fold   bool // paths are
	secret *secret
}

// values appends all parts to x.values, with a bar before each; false means that one
// is missing and no budget is shared by those without it. x.cuts tells where each
// ends.
func (k *keyMaker) values(x *exchange) bool {
	x.values, x.cuts = x.values[:0], x.cuts[:0]
	for i := range k.parts {
		x.values = append(x.values, '|')
		var ok bool
		if x.values, ok = k.parts[i].append(x.values, x); !ok {
			if !k.shared {
				return false
			}
			x.values = append(x.values, missingText...)
		}
		x.cuts = append(x.cuts, int32(len(x.values)))
	}
	return true
}

// key appends the key that belongs to x.values.
func (k *keyMaker) key(to []byte, x *exchange) []byte {
	start := len(to)
	if k.tag != nil {
		to = k.appendTag(to, x)
	}
	to = append(to, k.prefix...)
	if k.secret != nil && len(k.parts) > 0 {
		return k.secret.append(append(append(to, '|'), secretText...), x.values)
	}
	if len(to)-start+len(x.values) > store.MaxKey {
		sum := sha256.Sum256(x.values)
		return hex.AppendEncode(append(append(to, '|'), longText...), sum[:])
	}
	return append(to, x.values...)
}

// appendTag appends the tag in braces. What it looks like depends on the value alone,
// so that it is the same for all rules.
func (k *keyMaker) appendTag(to []byte, x *exchange) []byte {
	to = append(to, '{')
	tag := len(to)
	to, ok := k.tag.append(to, x)
	switch {
	case !ok:
		to = append(to, missingText...)
	case k.secret != nil:
		x.text = append(x.text[:0], to[tag:]...)
		to = k.secret.append(append(to[:tag], secretText...), x.text)
	case len(to)-tag > maxTag:
		sum := sha256.Sum256(to[tag:])
		to = hex.AppendEncode(append(to[:tag], longText...), sum[:])
	default:
		to = escapeBraces(to, tag)
	}
	return append(to, '}')
}

// escapeBraces escapes what would end the tag that begins at from.
func escapeBraces(to []byte, from int) []byte {
	for i := from; i < len(to); i++ {
		if to[i] == '}' {
			to = append(to, 0, 0)
			copy(to[i+3:], to[i+1:])
			i += copy(to[i:], "%7D") - 1
		}
	}
	return to
}

// TagOf returns the tag that a key of a rule with Tag was given, or "". It is what
// redisstore.Tag asks for.
func TagOf(key string) string {
	if !strings.HasPrefix(key, "{") {
		return ""
	}
	tag, _, ok := strings.Cut(key[1:], "}")
	if !ok {
		return ""
	}
	return tag
}

// secret hashes with a key of its own, so that nobody without it can find out whom a
// hash stands for by trying names.
type secret struct {
	pool sync.Pool // of hash.Hash
}

// secretBytes of a hash are kept.
const secretBytes = 16

// append appends the hash of values as text.
func (s *secret) append(to, values []byte) []byte {
	h := s.pool.Get().(hash.Hash)
	defer s.pool.Put(h)
	h.Reset()
	h.Write(values)
	at := len(to)
	to = h.Sum(to)
	var sum [secretBytes]byte
	copy(sum[:], to[at:])
	return hex.AppendEncode(to[:at], sum[:])
}

// parsePart reads a part of a key. reason tells what is wrong with it.
func parsePart(text string) (p part, reason, hint string) {
	p.text = text
	name, argument, colon := strings.Cut(text, ":")
	name, bits, slash := strings.Cut(name, "/")
	known, ok := partKinds[name]
	if name == "path" && colon {
		known.kind, known.named = variablePart, true
	}
	switch {
	case !ok:
		return p, "unknown part " + strconv.Quote(clip(text)), suggest(name, partNames...)
	case slash && (name != "ip" || colon):
		return p, strconv.Quote(clip(text)) + " has a slash", "only ip has a prefix, as in ip/56"
	case known.named && argument == "":
		return p, strconv.Quote(clip(text)) + " has no name", "write " + name + ":NAME"
	case !known.named && colon:
		return p, strconv.Quote(clip(text)) + " takes no name", "write " + name
	}
	p.kind, p.name, p.bits = known.kind, argument, 64
	if slash {
		n, err := strconv.Atoi(bits)
		if err != nil || n < 1 || n > 128 || strconv.Itoa(n) != bits {
			return p, strconv.Quote(clip(text)) + " is no prefix of an IPv6 address", "use ip/1 to ip/128"
		}
		p.bits = n
	}
	return p, "", ""
}

var partKinds = map[string]struct {
	kind  partKind
	named bool
}{
	"ip": {ipPart, false}, "user": {userPart, false}, "host": {hostPart, false}, "method": {methodPart, false},
	"path": {pathPart, false}, "header": {headerPart, true}, "cookie": {cookiePart, true},
	"query": {queryPart, true}, "attribute": {attributePart, true}, "const": {constPart, true},
}

var partNames = []string{"ip", "user", "host", "method", "path", "header", "cookie", "query", "attribute", "const"}
