package httplimit

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// source says where the address of the client is to be found. Its zero value takes
// that of the connection and believes no header.
//
// Whoever sends a request writes what it likes into its headers. Only what a proxy
// of ours has added is true, and that stands at the right end. So a header is read
// only if the connection comes from such a proxy, and from right to left, as far as
// every hop is one of ours; the first that is not is the client. Where a hop cannot
// be read, the one that vouched for it is charged: the last trusted one.
type source struct {
	option  string                                           // that says so; empty: none
	header  string                                           // canonical; empty: none
	next    func(line string) (node, rest string, more bool) // takes the rightmost node off a line
	trusted networks
	hops    int  // if above 0: so many nodes are read, whoever they are
	single  bool // the header holds one address, which the proxy has set
	anyPeer bool // the connection need not come from a trusted network
	unix    bool // a peer at a Unix socket is trusted
}

// client returns the address of who sent r, or nobody.
func (s *source) client(r *http.Request) netip.Addr {
	peer, ok := parseAddress(r.RemoteAddr)
	return s.behind(r, peer, ok)
}

// behind returns who sent r through the peer, which is the other end of the connection
// if its address could be read.
func (s *source) behind(r *http.Request, peer netip.Addr, ok bool) netip.Addr {
	if !ok {
		peer = nobody
	}
	if s.header == "" || !s.trustsPeer(r, peer, ok) || hopByHop(r.Header, s.header) {
		return peer
	}
	lines := r.Header[s.header]
	if s.single {
		return singleAddress(lines, peer)
	}
	return s.walk(lines, peer)
}

func (s *source) trustsPeer(r *http.Request, peer netip.Addr, known bool) bool {
	if !known {
		return s.unix && atUnixSocket(r)
	}
	return s.anyPeer || s.trusted.contain(peer)
}

// atUnixSocket reports whether the server has accepted r at a Unix socket.
func atUnixSocket(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.Network() == "unix"
}

// walk goes from the peer towards the client, over all lines of the header in the
// order in which proxies have added them.
func (s *source) walk(lines []string, at netip.Addr) netip.Addr {
	seen := 0
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var node string
			node, rest, more = s.next(rest)
			addr, ok := parseAddress(node)
			if !ok {
				return at
			}
			at = addr
			if seen++; s.hops == seen || s.hops == 0 && !s.trusted.contain(addr) {
				return at
			}
		}
	}
	return at
}

// singleAddress reads a header that holds one address. Two of them mean that
// somebody else has set one too.
func singleAddress(lines []string, peer netip.Addr) netip.Addr {
	if len(lines) != 1 {
		return peer
	}
	if addr, ok := parseAddress(strings.Trim(lines[0], " \t")); ok {
		return addr
	}
	return peer
}

// hopByHop reports whether the sender asks that the header be not passed on: then
// it is not for us either, and what it says was not said by the proxy.
func hopByHop(h http.Header, name string) bool {
	for _, line := range h["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(token, " \t"), name) {
				return true
			}
		}
	}
	return false
}
