package rule

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
)

// cleanAddr returns the address by which a client is known: IPv4 also if it came
// wrapped in IPv6, and without a zone, which only this machine knows.
func cleanAddr(a netip.Addr) netip.Addr {
	if !a.Is4() {
		a = a.Unmap().WithZone("")
	}
	return a
}

// The networks of IPv6 in which every address is another client: what a translator
// (NAT64) makes of IPv4 addresses, and what has an IPv4 address or ::1 at its end.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
)

// appendIP appends the address as it stands in keys: whole if it is IPv4, else the
// prefix of so many bits. It appends nothing if there is none.
func appendIP(to []byte, ip netip.Addr, bits int) []byte {
	if ip.Is4() {
		return appendFour(to, ip.As4())
	}
	prefix, err := ip.Prefix(bits)
	switch {
	case err != nil || !ip.IsValid():
		return to
	case translated.Contains(ip):
		all := ip.As16()
		return appendFour(to, [4]byte(all[12:]))
	case bits == 128, compatible.Contains(ip):
		return ip.AppendTo(to)
	}
	return prefix.AppendTo(to)
}

// decimals are the numbers of IPv4 addresses, each with a dot after it.
var decimals = func() (all [256]decimal) {
	for i := range all {
		text := strconv.AppendInt(nil, int64(i), 10)
		text = append(text, '.')
		all[i].size = len(text)
		all[i].text = binary.LittleEndian.Uint32(append(text, 0, 0)[:4])
	}
	return all
}()

type decimal struct {
	text uint32 // four bytes, of which size count
	size int
}

// appendFour appends an IPv4 address: always four bytes for each number, of which the
// next one overwrites what is too much.
func appendFour(to []byte, ip [4]byte) []byte {
	const longest = len("255.255.255.255.")
	if cap(to)-len(to) < longest {
		to = slices.Grow(to, longest)
	}
	text := (*[longest]byte)(to[len(to) : len(to)+longest])
	a, b, c, d := &decimals[ip[0]], &decimals[ip[1]], &decimals[ip[2]], &decimals[ip[3]]
	second := a.size
	third := second + b.size
	fourth := third + c.size
	binary.LittleEndian.PutUint32(text[0:], a.text)
	binary.LittleEndian.PutUint32(text[second:], b.text)
	binary.LittleEndian.PutUint32(text[third:], c.text)
	binary.LittleEndian.PutUint32(text[fourth:], d.text)
	return to[:len(to)+fourth+d.size-1]
}
