package rule

import "strings"

// QueryValue returns the decoded value of the first parameter with that name in the
// query, or "". What url.ParseQuery passes over, since it has a semicolon or a broken
// escape, is passed over here too: a handler does not see it either.
func (r *Request) QueryValue(name string) string {
	return string(appendQuery(nil, r.Query, name))
}

// appendQuery appends the value that QueryValue returns.
func appendQuery(to []byte, query, name string) []byte {
	start := len(to)
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if pair == "" || !queryNameIs(key, name) || strings.IndexByte(pair, ';') >= 0 {
			continue
		}
		var ok bool
		if to, ok = appendDecoded(to, value); ok {
			return to
		}
		to = to[:start]
	}
	return to
}

// appendDecoded appends a value without its escapes; false means that one is broken.
func appendDecoded(to []byte, value string) ([]byte, bool) {
	for i := 0; i < len(value); {
		c, size, ok := queryByte(value[i:])
		if !ok {
			return to, false
		}
		to = append(to, c)
		i += size
	}
	return to, true
}

// queryNameIs compares a name that may be escaped.
func queryNameIs(escaped, name string) bool {
	for len(name) > 0 && len(escaped) > 0 {
		c, size, ok := queryByte(escaped)
		if !ok || c != name[0] {
			return false
		}
		escaped, name = escaped[size:], name[1:]
	}
	return escaped == name
}

// queryByte decodes the first byte of s, which is not empty.
func queryByte(s string) (c byte, size int, ok bool) {
	switch s[0] {
	case '+':
		return ' ', 1, true
	case '%':
		c, ok = unhexPair(s[1:])
		return c, 3, ok
	}
	return s[0], 1, true
}
