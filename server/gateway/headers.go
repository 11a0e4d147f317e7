package gateway

import (
	"net/http"
	"net/netip"
	"strings"
)

// hopByHop are the fields that are between two neighbours, and not passed on.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

var via = []string{"1.1 sluice"}

// passOn makes the header of the request that of the one to the upstream, and returns
// the protocol that the client wants to change to, if any.
func (x *exchange) passOn() (upgrade string) {
	r := x.request
	h := r.Header
	upgrade = wantedProtocol(r)
	trailers := hasToken(h["Te"], "trailers")
	x.named = h["Connection"]
	removeHopByHop(h)
	delete(h, "Host") // HTTP/2 can have it beside the host that the rules saw
	if !x.trusted {
		removeForwarding(h, x.gateway.config.UserHeader)
	}
	x.setForwarding(h)
	if upgrade != "" {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{upgrade}
	}
	if trailers {
		h["Te"] = []string{"trailers"}
	}
	if _, given := h["User-Agent"]; !given {
		h["User-Agent"] = nil // else the transport would add its own
	}
	if before := h["Via"]; len(before) > 0 {
		h["Via"] = []string{strings.Join(before, ", ") + ", " + via[0]}
	} else {
		h["Via"] = via
	}
	return upgrade
}

// removeHopByHop removes what is not passed on, also what Connection names. Whatever the
// gateway itself has to say is set after this, so that no client can remove it.
func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		removeNamed(h, line)
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// removeNamed removes what a line of Connection names.
func removeNamed(h http.Header, line string) {
	for name := range strings.SplitSeq(line, ",") {
		if name = strings.Trim(name, " \t"); name != "" && !strings.EqualFold(name, "close") && !strings.EqualFold(name, "keep-alive") {
			h.Del(name)
		}
	}
}

// removeForwarding removes what only a proxy may say, also who the user is, in all ways in
// which an application may read it: many take X_Forwarded_For for X-Forwarded-For.
func removeForwarding(h http.Header, user string) {
	user = withoutUnderscores(user)
	for name := range h {
		if name[0] != 'X' && name[0] != 'F' && (user == "" || name[0] != user[0]) {
			continue
		}
		plain := withoutUnderscores(name)
		if strings.HasPrefix(plain, "X-Forwarded-") || plain == "X-Real-Ip" || plain == "Forwarded" || plain == user {
			delete(h, name)
		}
	}
}

// withoutUnderscores is the name of a field as all its spellings have it in common.
func withoutUnderscores(name string) string {
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

// setForwarding says who has sent the request. What a trusted proxy has said before is
// kept.
func (x *exchange) setForwarding(h http.Header) {
	r := x.request
	proto := "http"
	if r.TLS != nil {
		proto = "https"
	}
	peer := x.peer.String()
	addLine(h, "X-Forwarded-For", peer)
	addLine(h, "Forwarded", forwardedElement(x.peer, peer, r.Host, proto))
	if len(h["X-Forwarded-Proto"]) == 0 {
		h["X-Forwarded-Proto"] = []string{proto}
	}
	if len(h["X-Forwarded-Host"]) == 0 {
		h["X-Forwarded-Host"] = []string{r.Host}
	}
	h["X-Real-Ip"] = []string{peer}
	if x.client != x.peer {
		h["X-Real-Ip"] = []string{x.client.String()}
	}
}

// addLine puts a value behind those that are there, as one line.
func addLine(h http.Header, name, value string) {
	if before := h[name]; len(before) > 0 {
		value = strings.Join(before, ", ") + ", " + value
	}
	h[name] = []string{value}
}

// forwardedElement is one of the field Forwarded (RFC 7239).
func forwardedElement(peer netip.Addr, text, host, proto string) string {
	if peer.Is6() {
		text = `"[` + text + `]"`
	}
	element := "for=" + text + ";proto=" + proto
	if host != "" && !strings.ContainsAny(host, `"\`) {
		element = "for=" + text + `;host="` + host + `";proto=` + proto
	}
	return element
}

// wantedProtocol returns what a client wants to change to. HTTP/2 has no such thing, and
// h2c is for the next neighbour only. With a body nobody could tell where that ends and the
// other protocol begins.
func wantedProtocol(r *http.Request) string {
	lines := r.Header["Upgrade"]
	if len(lines) != 1 || r.ProtoMajor != 1 || r.ContentLength != 0 || !hasToken(r.Header["Connection"], "upgrade") ||
		strings.EqualFold(lines[0], "h2c") || strings.ContainsFunc(lines[0], func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return ""
	}
	return lines[0]
}

// hasToken reports whether a list has a member of this name.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(part, " \t"), token) {
				return true
			}
		}
	}
	return false
}
