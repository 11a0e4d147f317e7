package gateway

import (
	"io"
	"net/http"
	"slices"
	"strings"
)

// What comes after a body was not there when rules, routes and servers looked at the
// header. So nothing may come then that one of them would have acted on: where a message
// ends, where it goes, who has sent it, and how its content is to be read (RFC 9110, 6.5.1).
var notInTrailers = map[string]bool{
	"Content-Length": true, "Content-Encoding": true, "Content-Type": true, "Content-Range": true,
	"Host": true, "Expect": true, "Max-Forwards": true, "Range": true, "Cache-Control": true, "Pragma": true,
	"Authorization": true, "Cookie": true, "Set-Cookie": true, "Www-Authenticate": true, "Authentication-Info": true,
	"Proxy-Authentication-Info": true, "Age": true, "Date": true, "Expires": true, "Location": true,
	"Retry-After": true, "Vary": true, "Warning": true, "Via": true, "X-Real-Ip": true, "Forwarded": true,
	"X-Http-Method-Override": true,
}

// mayTrail reports whether a field may come after a body, however its name is spelt. named
// are those that Connection has named, and user is the field that names the user.
func mayTrail(name string, named []string, user string) bool {
	plain := withoutUnderscores(name)
	if notInTrailers[plain] || slices.Contains(hopByHop, plain) || strings.HasPrefix(plain, "If-") || strings.HasPrefix(plain, "X-Forwarded-") ||
		user != "" && plain == withoutUnderscores(user) {
		return false
	}
	return !hasToken(named, name)
}

// trailer is that of the request to the upstream: of what the client has announced, all
// that may come. The values are there when the body has ended.
func (o *outbound) trailer() http.Header {
	var kept http.Header
	for name := range o.request.Trailer {
		if mayTrail(name, o.named, o.gateway.config.UserHeader) {
			if kept == nil {
				kept = http.Header{}
			}
			kept[name] = nil
		}
	}
	return kept
}

// upload is the body of a request on its way. Progress of it counts as a sign of life.
type upload struct {
	*exchange
	watch   *watchdog
	trailer http.Header // of the request to the upstream
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.exchange.Read(p)
	u.watch.alive()
	if err == io.EOF {
		for name := range u.trailer { // and nothing that was not announced
			u.trailer[name] = u.request.Trailer[name]
		}
	}
	return n, err
}

// removeUntrailing removes from what a server sends after a body what may not come then.
func removeUntrailing(trailer http.Header, named []string) {
	for name := range trailer {
		if !mayTrail(name, named, "") {
			delete(trailer, name)
		}
	}
}
