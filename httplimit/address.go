package httplimit

import (
	"net/netip"
	"strings"
)

// nobody stands for a client that has no address: one at the other end of a Unix
// socket, or a server that says nonsense. No packet comes from it, so that such
// clients share one key and never that of somebody else.
var nobody = netip.IPv4Unspecified()

// parseAddress reads the address of a client or proxy as it stands in headers and
// in http.Request.RemoteAddr: with or without port, brackets and zone. Leading
// zeros are refused, because some read them as octal.
func parseAddress(text string) (netip.Addr, bool) {
	host := text
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 || !isPort(text[end+1:], true) {
			return netip.Addr{}, false
		}
		if host = text[1:end]; !strings.Contains(host, ":") {
			return netip.Addr{}, false
		}
	} else if colon := strings.IndexByte(text, ':'); colon >= 0 && strings.LastIndexByte(text, ':') == colon {
		if !isPort(text[colon:], false) {
			return netip.Addr{}, false
		}
		host = text[:colon]
	}
	return parseHost(host)
}

// parseHost reads an address without port. A zone names a network card of whoever
// wrote it, and says nothing to us; it is cut off before anything keeps it.
func parseHost(host string) (netip.Addr, bool) {
	if zone := strings.IndexByte(host, '%'); zone >= 0 {
		if !strings.Contains(host[:zone], ":") || zone == len(host)-1 {
			return netip.Addr{}, false
		}
		host = host[:zone]
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, false
	}
	addr = addr.Unmap()
	return addr, !addr.IsUnspecified()
}

// isPort reports whether text is a colon and a port, or, if it may be, nothing.
func isPort(text string, mayBeEmpty bool) bool {
	if text == "" {
		return mayBeEmpty
	}
	if text[0] != ':' || len(text) < 2 || len(text) > 6 {
		return false
	}
	number := 0
	for _, c := range []byte(text[1:]) {
		if c < '0' || c > '9' {
			return false
		}
		number = number*10 + int(c-'0')
	}
	return number <= 65535
}

// appendKey writes whose budget a request from addr is charged to: an IPv4 address,
// or the network of an IPv6 address, whose owner can take any address in it.
func appendKey(to []byte, addr netip.Addr, ipv6Bits int) []byte {
	if addr.Is4() || ipv6Bits == 128 {
		return addr.AppendTo(to)
	}
	network, err := addr.Prefix(ipv6Bits)
	if err != nil {
		return addr.AppendTo(to) // IPv6Prefix has checked the number
	}
	return network.AppendTo(to)
}
