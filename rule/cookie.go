package rule

import "strings"

// cookie returns the value of the first cookie with that name in the header field,
// without quotes, or "".
func cookie(field, name string) string {
	for field != "" {
		var pair string
		pair, field, _ = strings.Cut(field, ";")
		key, value, ok := strings.Cut(pair, "=")
		if !ok || strings.Trim(key, " \t") != name {
			continue
		}
		value = strings.Trim(value, " \t")
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		return value
	}
	return ""
}

// appendQuery appends the decoded value of the first parameter with that name in a
// query. A broken escape in it makes it nothing, as if it were missing.
func appendQuery(to []byte, query, name string) []byte {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if !queryNameIs(key, name) {
			continue
		}
		start := len(to)
		for i := 0; i < len(value); i++ {
			c, size, ok := queryByte(value[i:])
			if !ok {
				return to[:start]
			}
			to = append(to, c)
			i += size - 1
		}
		return to
	}
	return to
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
