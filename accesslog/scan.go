package accesslog

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// quoted returns what stands between the next two quotes, of which the second is not
// escaped by a backslash, and what comes after them.
func quoted(text string) (inner, rest string, ok bool) {
	open := strings.IndexByte(text, '"')
	if open < 0 {
		return "", text, false
	}
	text = text[open+1:]
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '"')
		if i < 0 {
			return "", "", false
		}
		i += from
		if !isEscaped(text, i) {
			return text[:i], text[i+1:], true
		}
		from = i + 1
	}
}

// isEscaped reports whether an odd number of backslashes stands before i.
func isEscaped(text string, i int) bool {
	slashes := 0
	for i--; i >= 0 && text[i] == '\\'; i-- {
		slashes++
	}
	return slashes%2 == 1
}

// word returns the next word, and what comes after it.
func word(text string) (w, rest string) {
	for text != "" && text[0] == ' ' {
		text = text[1:]
	}
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// number reads a count. A dash and nothing at all mean 0.
func number(text string) (n int64, ok bool) {
	if text == "" || text == "-" {
		return 0, true
	}
	if len(text) > 18 {
		return 0, false
	}
	for i := range len(text) {
		d := text[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}

func smallNumber(text string) (int, bool) {
	n, ok := number(text)
	return int(n), ok && n <= 999_999
}

// seconds reads a duration in seconds, such as 0.004.
func seconds(text string) (time.Duration, bool) {
	if text == "" || text == "-" {
		return 0, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1e9 { // not a number is neither
		return 0, err == nil && f == -1 // a load balancer that reached nobody
	}
	return time.Duration(f * 1e9), true
}

// isMethod reports whether a text can be the method of a request.
func isMethod(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return text != "" && len(text) <= 32
}

// parseAddr reads an address, with or without a port. It makes no errors, which cost.
func parseAddr(text string) (netip.Addr, bool) {
	colon := strings.IndexByte(text, ':')
	if colon < 0 {
		return parseFour(text)
	}
	if a, ok := parseFour(text[:colon]); ok {
		_, ok = number(text[colon+1:])
		return a, ok
	}
	if text[0] == '[' {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return netip.Addr{}, false
		}
		text = text[1:end]
	} else if strings.IndexByte(text[colon+1:], ':') < 0 {
		return netip.Addr{}, false // a host with its port
	}
	a, err := netip.ParseAddr(text)
	return a, err == nil
}

// parseFour reads an IPv4 address without a port, faster than netip.
func parseFour(text string) (netip.Addr, bool) {
	var four [4]byte
	at, value, digits := 0, 0, 0
	if len(text) > 15 {
		return netip.Addr{}, false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '.':
			if digits == 0 || at == 3 {
				return netip.Addr{}, false
			}
			four[at] = byte(value)
			at, value, digits = at+1, 0, 0
		case c-'0' > 9, digits > 0 && value == 0: // no leading zeros
			return netip.Addr{}, false
		default:
			value = value*10 + int(c-'0')
			if digits++; value > 255 {
				return netip.Addr{}, false
			}
		}
	}
	if at != 3 || digits == 0 {
		return netip.Addr{}, false
	}
	four[3] = byte(value)
	return netip.AddrFrom4(four), true
}

// plausibleHost reports whether a text can be the name of a host, which servers that
// resolve addresses write instead.
func plausibleHost(text string) bool {
	letters := false
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		case c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return letters && len(text) <= 255
}
