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
	if four, size := scanIPv4(text); size > 0 {
		return netip.AddrFrom4(four), four != [4]byte{}
	}
	return parseSlowly(text)
}

// parseSlowly reads all that scanIPv4 does not, and the same as that.
func parseSlowly(text string) (netip.Addr, bool) {
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

// scanIPv4 reads what most connections have: 192.0.2.1:4711. It returns the length of
// the address, or 0 for everything else. There is only one way to write such an address.
func scanIPv4(text string) (four [4]byte, size int) {
	at := 0
	for i := range four {
		number, start := 0, at
		for at < len(text) && text[at]-'0' <= 9 {
			number = number*10 + int(text[at]-'0')
			at++
		}
		if at == start || at-start > 3 || number > 255 || text[start] == '0' && at-start > 1 {
			return four, 0
		}
		if four[i] = byte(number); i < 3 {
			if at == len(text) || text[at] != '.' {
				return four, 0
			}
			at++
		}
	}
	if !isPort(text[at:], true) {
		return four, 0
	}
	return four, at
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

// AddressKey returns whose budget a request from addr is charged to, as [ByIP] does: an
// IPv4 address, also if it comes as IPv6, or the /64 network of an IPv6 address. Of no
// address it is empty.
func AddressKey(addr netip.Addr) string {
	var buffer [64]byte
	return string(appendKey(buffer[:0], addr.Unmap().WithZone(""), 64))
}

// The networks of IPv6 in which every address is another client: what a translator
// (NAT64) makes of IPv4 addresses, and what has an IPv4 address or ::1 at its end.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
)

// appendKey writes whose budget a request from addr is charged to: an IPv4 address,
// or the network of an IPv6 address, whose owner can take any address in it.
func appendKey(to []byte, addr netip.Addr, ipv6Bits int) []byte {
	switch {
	case translated.Contains(addr):
		bytes := addr.As16()
		return netip.AddrFrom4([4]byte(bytes[12:])).AppendTo(to)
	case addr.Is4(), ipv6Bits == 128, compatible.Contains(addr):
		return addr.AppendTo(to)
	}
	network, err := addr.Prefix(ipv6Bits)
	if err != nil {
		return addr.AppendTo(to) // IPv6Prefix has checked the number
	}
	return network.AppendTo(to)
}
