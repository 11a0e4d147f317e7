package httplimit

import (
	"fmt"
	"net/netip"
	"strings"
)

// ParsePrefixes reads networks and addresses of proxies, as an operator writes them:
// 10.0.0.0/8, 192.0.2.1, 2001:db8::/32. A single address is just that address.
func ParsePrefixes(texts ...string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		p, err := parsePrefix(strings.TrimSpace(text))
		if err == nil {
			p, err = plain(p)
		}
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, p)
	}
	return prefixes, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return p, fmt.Errorf("httplimit: proxy %.64q is no network (write 10.0.0.0/8 or 2001:db8::/32)", text)
		}
		return p, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("httplimit: proxy %.64q is no address (write 192.0.2.1, 2001:db8::1 or 10.0.0.0/8)", text)
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// plain checks a network and turns one of IPv4-mapped addresses into that of the IPv4
// addresses. One that is shorter than /96 would be the whole of IPv4 and more, and is
// hardly ever meant: ::ffff:10.0.0.0/8 looks like 10.0.0.0/8 and is everybody. Nor is
// 0.0.0.0/0 a network of proxies.
func plain(p netip.Prefix) (netip.Prefix, error) {
	if !p.IsValid() {
		return p, fmt.Errorf("httplimit: a proxy network is invalid (make it with netip.ParsePrefix or ParsePrefixes)")
	}
	if addr := p.Addr(); addr.Is4In6() {
		if p.Bits() < 96 {
			return p, fmt.Errorf("httplimit: proxy network %v would trust everybody (write it as IPv4: %v/%d)", p, addr.Unmap(), min(p.Bits(), 32))
		}
		p = netip.PrefixFrom(addr.Unmap(), p.Bits()-96)
	}
	if p.Bits() == 0 {
		return p, fmt.Errorf("httplimit: %v trusts everybody, so that every client chooses its own address (name the networks of your proxies, or use TrustHops)", p)
	}
	return p.Masked(), nil
}

// networks are those of trusted proxies.
type networks []netip.Prefix

// mustTrust checks prefixes for an option, where a mistake is one of the program.
func mustTrust(option string, prefixes []netip.Prefix) networks {
	if len(prefixes) == 0 {
		panic("httplimit: " + option + ": no proxy is named (give the networks that your proxies connect from)")
	}
	all := make(networks, len(prefixes))
	for i, p := range prefixes {
		var err error
		if all[i], err = plain(p); err != nil {
			panic("httplimit: " + option + ": " + strings.TrimPrefix(err.Error(), "httplimit: "))
		}
	}
	return all
}

// contain reports whether addr, which is unmapped, is trusted.
func (n networks) contain(addr netip.Addr) bool {
	for _, p := range n {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
