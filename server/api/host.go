package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// addressed reports whether r was sent to this server by a name that is its own. A page
// in a browser may let its own name point to this machine (DNS rebinding): to the
// browser the server is then the page's. A token, which the page does not have, settles
// that; without tokens only names count that nobody else can give away.
func (h *handler) addressed(r *http.Request) bool {
	if len(h.options.Tokens) > 0 || r.Host == "" { // browsers always say the host
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if _, unix := local.(*net.UnixAddr); unix {
		return true // out of reach for browsers
	}
	name := withoutPort(r.Host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	tcp, ok := local.(*net.TCPAddr)
	return ip.IsLoopback() || ok && ip == tcp.AddrPort().Addr().Unmap()
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
