package api

import (
	"crypto/sha256"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// addressed reports whether r was sent to this server by a name that is its own. A page
// in a browser may let its own name point to this machine (DNS rebinding): to the
// browser the server is then the page's. A token, which the page does not have, settles
// that; without tokens only names count that nobody else can give away.
func addressed(r *http.Request, tokens [][sha256.Size]byte) bool {
	if len(tokens) > 0 || r.Host == "" { // browsers always say the host
		return true
	}
	name := withoutPort(r.Host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	switch local := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.UnixAddr:
		return true // out of reach for browsers
	case *net.TCPAddr:
		return err == nil && ip == local.AddrPort().Addr().Unmap()
	}
	return false
}

// fromPage reports whether a browser may have sent r for a page: others need not be
// looked at any closer.
func fromPage(r *http.Request) bool {
	return len(r.Header["Origin"]) > 0 || len(r.Header["Sec-Fetch-Site"]) > 0
}

// withoutPort returns the name or address of a host field, without brackets.
func withoutPort(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, rest, closed := strings.Cut(inner, "]")
		if !closed || rest != "" && rest[0] != ':' {
			return ""
		}
		return inner
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}
