package accesslog

import (
	"strings"
	"unicode/utf8"
)

// jsonLines is a format with one JSON object in each line.
type jsonLines struct {
	name  string
	slots slots // by the path of the field: "request.headers.User-Agent"
	set   Settings
}

func newJSON(name string, fields slots, s Settings) (Format, error) {
	all, err := fields.with(s.Fields)
	if err != nil {
		return nil, err
	}
	return &jsonLines{name: name, slots: all, set: s}, nil
}

// Name implements Format.
func (j *jsonLines) Name() string { return j.name }

// Parser implements Format.
func (j *jsonLines) Parser() Parser {
	return &jsonParser{slots: j.slots, setter: setter{zone: j.set.Zone}, timeAlone: j.set.Fields["time"] != ""}
}

// jsonParser reads JSON objects without building them.
type jsonParser struct {
	setter
	slots     slots
	timeAlone bool // somebody named the time: then a time alone is a request too
	path      []byte
	rest      string
	entry     *Entry
	why       Reason
}

// maxDepth is how deep objects may be nested.
const maxDepth = 32

// Parse implements Parser.
func (p *jsonParser) Parse(line string, e *Entry) Reason {
	p.begin(e)
	p.rest, p.entry, p.path, p.why = line, e, p.path[:0], ""
	p.space()
	if p.rest == "" || p.rest[0] != '{' || !p.value(0) {
		return p.failed()
	}
	if p.space(); p.rest != "" {
		return BadJSON
	}
	if r := p.end(e); r != "" || p.timeAlone || tellsRequest(e) {
		return r
	}
	return Other
}

// tellsRequest reports whether an entry tells more than a time. Servers write what else
// happens to them into the same files.
func tellsRequest(e *Entry) bool {
	return e.IP.IsValid() || e.Method != "" || e.Path != "" || e.Status != 0 || e.Host != "" || e.User != "" || e.Key != "" || len(e.More) > 0
}

func (p *jsonParser) failed() Reason {
	if p.why != "" {
		return p.why
	}
	return BadJSON
}

func (p *jsonParser) space() {
	for p.rest != "" && p.rest[0] <= ' ' {
		p.rest = p.rest[1:]
	}
}

// value reads any value, whose field is p.path.
func (p *jsonParser) value(depth int) bool {
	if p.space(); p.rest == "" || depth > maxDepth {
		return false
	}
	switch p.rest[0] {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		text, ok := p.text()
		return ok && p.take(text)
	}
	end := strings.IndexAny(p.rest, ",}] \t")
	if end <= 0 {
		return false
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return isLiteral(word) && (word == "null" || p.take(word))
}

// isLiteral reports whether a word is a number, true, false or null.
func isLiteral(word string) bool {
	switch word {
	case "true", "false", "null":
		return true
	}
	for i := range len(word) {
		if c := word[i]; c-'0' > 9 && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

// take puts a value where its field goes.
func (p *jsonParser) take(value string) bool {
	to, ok := p.slots[string(p.path)]
	if ok {
		p.why = p.set(p.entry, to, value)
	}
	return p.why == ""
}

func (p *jsonParser) object(depth int) bool {
	p.rest = p.rest[1:]
	before := len(p.path)
	for first := true; ; first = false {
		if p.space(); p.rest == "" {
			return false
		}
		if p.rest[0] == '}' && first {
			p.rest = p.rest[1:]
			return true
		}
		name, ok := p.text()
		if p.space(); !ok || p.rest == "" || p.rest[0] != ':' {
			return false
		}
		p.rest = p.rest[1:]
		if before > 0 {
			p.path = append(p.path, '.')
		}
		p.path = append(p.path, name...)
		ok = p.value(depth + 1)
		p.path = p.path[:before]
		if p.space(); !ok || p.rest == "" {
			return false
		}
		c := p.rest[0]
		if p.rest = p.rest[1:]; c == '}' {
			return true
		}
		if c != ',' {
			return false
		}
		p.space()
	}
}

// array reads a list, of which the first value counts.
func (p *jsonParser) array(depth int) bool {
	p.rest = p.rest[1:]
	if p.space(); p.rest != "" && p.rest[0] == ']' {
		p.rest = p.rest[1:]
		return true
	}
	before := len(p.path)
	for {
		ok := p.value(depth + 1)
		if p.space(); !ok || p.rest == "" {
			return false
		}
		c := p.rest[0]
		if p.rest = p.rest[1:]; c == ']' {
			p.path = p.path[:before]
			return true
		}
		if c != ',' {
			return false
		}
		if len(p.path) == before {
			p.path = append(p.path, "[]"...) // a field that no slot has
		}
	}
}

// text reads a string. It copies only those with escapes.
func (p *jsonParser) text() (string, bool) {
	if p.rest == "" || p.rest[0] != '"' {
		return "", false
	}
	inner, rest, ok := quoted(p.rest)
	p.rest = rest
	if !ok || strings.IndexByte(inner, '\\') < 0 {
		return inner, ok
	}
	return unescape(inner), true
}

// unescape undoes the escapes of JSON; one that is broken stays as it is.
func unescape(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			break
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		switch c := text[0]; c {
		case 'u':
			r, size := unicodeEscape(text)
			if size == 0 {
				b.WriteByte('\\')
				continue
			}
			b.WriteRune(r)
			text = text[size:]
			continue
		case 'n', 't', 'r', 'b', 'f':
			b.WriteByte("\n\t\r\b\f"[strings.IndexByte("ntrbf", c)])
		default:
			b.WriteByte(c)
		}
		text = text[1:]
	}
	b.WriteString(text)
	return b.String()
}

// unicodeEscape reads u00e9 or a pair ud83d\ude00. Size 0 means that it is none.
func unicodeEscape(text string) (r rune, size int) {
	high, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if high >= 0xd800 && high < 0xdc00 && len(text) >= 11 && text[5] == '\\' {
		if low, ok := hex4(text[6:]); ok && low >= 0xdc00 && low < 0xe000 {
			return (high-0xd800)<<10 + (low - 0xdc00) + 0x10000, 11
		}
	}
	if high >= 0xd800 && high < 0xe000 {
		high = utf8.RuneError
	}
	return high, 5
}

func hex4(text string) (r rune, ok bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	for i := 1; i < 5; i++ {
		c := text[i] | 0x20 // letters in lower case, digits as they are
		switch {
		case text[i]-'0' <= 9:
			r = r<<4 | rune(text[i]-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
