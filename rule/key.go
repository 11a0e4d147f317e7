package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"sync"
)

// A key at the store is the rule's name, and the parts, each after a bar:
//
//	login|203.0.113.7|ann
//
// In a part, bars, percent signs, what is not UTF-8, and runes that are not shown as
// such are written as %XX, so that no two lists of values look alike. A percent sign with anything but
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
	kind     partKind
	slot     int // header: its number in the set
	bits     int // ip: the prefix of IPv6 addresses
	name     string
	text     string // as the rule has it
	segments []int  // path variable: its segment in each path of the match
}

// value returns the value of the part; "" means that it is missing. It may lie in a
// buffer of x and is good until the next part is asked for.
func (p *part) value(x *exchange) string {
	switch p.kind { // few cases are faster than many: these are the most frequent ones
	case ipPart:
		x.text = appendIP(x.text[:0], x.ip, p.bits)
		return textOf(x.text)
	case userPart:
		return x.request.User
	case headerPart:
		return x.header(p.slot)
	case methodPart:
		return x.request.Method
	}
	return p.rareValue(x)
}

func (p *part) rareValue(x *exchange) string {
	switch p.kind {
	case hostPart:
		return x.host
	case pathPart:
		return x.path
	case cookiePart:
		return x.request.Cookie(p.name)
	case variablePart:
		return segmentAt(x.path, x.ends, p.segments[x.pattern])
	case queryPart:
		x.text = appendQuery(x.text[:0], x.request.Query, p.name)
		return textOf(x.text)
	case attributePart:
		return x.request.Attributes[p.name]
	}
	return p.name // of constPart
}

// keyMaker makes the keys of one rule.
type keyMaker struct {
	name   string   // the rule's, and a bar if there are parts
	head   [32]byte // the name, or its beginning
	parts  []part
	tag    *part
	shared bool // a missing part is no obstacle
	fold   bool // paths are
	secret *secret
}

// appendKey appends the key, with a bar before each part, of which the first is at
// from. False means that a part is missing and no budget is shared by those without
// it. No hash stands in its place yet: see hide.
func (k *keyMaker) appendKey(to []byte, x *exchange) (key []byte, from int, ok bool) {
	if k.tag != nil {
		to = k.appendTag(to, x)
	}
	to = k.appendName(to)
	from = len(to)
	if len(k.parts) > 0 {
		from--
	}
	for i := range k.parts {
		if i > 0 {
			to = append(to, '|')
		}
		before := len(to)
		if p := &k.parts[i]; p.kind == ipPart {
			to = appendIP(to, x.ip, p.bits) // without a detour
		} else {
			to = appendEscaped(to, p.value(x))
		}
		if len(to) == before {
			if !k.shared {
				return to, from, false
			}
			to = append(to, missingText...)
		}
	}
	return to, from, true
}

// appendName appends the name. Most are short: then more is copied than counts, since to
// copy so much as is known takes two instructions.
func (k *keyMaker) appendName(to []byte) []byte {
	n := len(to)
	if len(k.name) > len(k.head) || cap(to)-n < len(k.head) {
		return append(to, k.name...)
	}
	*(*[len(k.head)]byte)(to[n : n+len(k.head)]) = k.head
	return to[:n+len(k.name)]
}

// hide puts the hash of the values, which begin at from, in their place.
func (k *keyMaker) hide(key []byte, from int) []byte {
	if k.secret != nil {
		sum := k.secret.sum(key[from:])
		return hex.AppendEncode(append(append(key[:from], '|'), secretText...), sum[:])
	}
	sum := sha256.Sum256(key[from:])
	return hex.AppendEncode(append(append(key[:from], '|'), longText...), sum[:])
}

// appendTag appends the tag in braces. What it looks like depends on the value alone,
// so that it is the same for all rules.
func (k *keyMaker) appendTag(to []byte, x *exchange) []byte {
	to = append(to, '{')
	tag := len(to)
	value := k.tag.value(x)
	to = appendEscaped(to, value)
	switch {
	case value == "":
		to = append(to, missingText...)
	case k.secret != nil:
		sum := k.secret.sum(to[tag:])
		to = hex.AppendEncode(append(to[:tag], secretText...), sum[:])
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
	pool sync.Pool // of *hmacState
}

type hmacState struct {
	hash  hash.Hash
	whole []byte
}

// secretBytes of a hash are kept.
const secretBytes = 16

// sum returns the hash of values.
func (s *secret) sum(values []byte) (sum [secretBytes]byte) {
	h := s.pool.Get().(*hmacState)
	defer s.pool.Put(h)
	h.hash.Reset()
	h.hash.Write(values)
	h.whole = h.hash.Sum(h.whole[:0])
	copy(sum[:], h.whole)
	return sum
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
