package httplimit

import "strings"

// lastForwardedFor takes the rightmost node off a line of X-Forwarded-For. An empty
// node stays one: the proxy did not know who was there.
func lastForwardedFor(line string) (node, rest string, more bool) {
	if comma := strings.LastIndexByte(line, ','); comma >= 0 {
		return strings.Trim(line[comma+1:], " \t"), line[:comma], true
	}
	return strings.Trim(line, " \t"), "", false
}

// lastForwarded takes the rightmost element off a line of Forwarded (RFC 7239) and
// returns its for= node, or "" if it has none that could be an address.
//
// The line is read from its right end, which our own proxy wrote, so that a quote
// which a client leaves open further left hides nothing.
func lastForwarded(line string) (node, rest string, more bool) {
	if comma := lastOutsideQuotes(line, ','); comma >= 0 {
		return forNode(line[comma+1:]), line[:comma], true
	}
	return forNode(line), "", false
}

// lastOutsideQuotes finds the rightmost c that is in no quoted string, or -1.
func lastOutsideQuotes(s string, c byte) int {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && !(quoted && escaped(s, i)):
			quoted = !quoted
		case s[i] == c && !quoted:
			return i
		}
	}
	return -1
}

// escaped reports whether the byte at i stands behind an odd number of backslashes.
func escaped(s string, i int) bool {
	n := 0
	for i > n && s[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// forNode returns the node of the for= pair of one element, or "" if there is none,
// or more than one, or one that is not well formed.
func forNode(element string) string {
	node, found := "", false
	for more := true; more; {
		pair := element
		semicolon := lastOutsideQuotes(element, ';')
		if more = semicolon >= 0; more {
			pair, element = element[semicolon+1:], element[:semicolon]
		}
		name, value, ok := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !ok || !strings.EqualFold(name, "for") {
			continue
		}
		if found {
			return ""
		}
		node, found = unquote(value), true
	}
	return node
}

// unquote returns what a node says. An IPv6 address has to stand in brackets. What is
// left of quotes and backslashes is no address.
func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	if value != "" && value[0] != '[' && strings.Count(value, ":") > 1 {
		return ""
	}
	return value
}
