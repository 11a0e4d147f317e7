package forwardauth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/sluice-limiter/sluice/httplimit"
)

// original returns the request that the proxy asks about. The address of the client is
// still to be found where the proxy has put it. What is missing or there twice is a
// fault of the proxy's settings: no client can be told from another by such a field,
// and so nobody is let through.
func (d *dialect) original(r *http.Request) (*http.Request, *problem) {
	var said [3]string
	for i, name := range [...]string{d.method, d.uri, d.host} {
		lines := r.Header[name]
		if len(lines) == 1 {
			said[i] = lines[0]
		}
		noHost := name == d.host && len(lines) <= 1 // as HTTP/1.0 clients have none
		if said[i] == "" && !noHost {
			return nil, d.misconfigured(name, len(lines))
		}
	}
	if lines := r.Header[d.client]; !readable(d.node(lines)) {
		return nil, d.misconfigured(d.client, len(lines))
	}
	o := r.WithContext(r.Context())
	o.Method, o.RequestURI, o.Host = said[0], said[1], said[2]
	o.Body, o.ContentLength, o.TransferEncoding = http.NoBody, d.lengthOf(r.Header, o.Method), nil
	var ok bool
	if o.URL, ok = parseTarget(o.RequestURI); !ok {
		return o, badTarget()
	}
	return o, nil
}

// parseTarget reads a path with its query. One with a number sign is none: nginx lets
// it pass, and looks at what stands before it only, while others take all of it.
func parseTarget(text string) (*url.URL, bool) {
	if !strings.HasPrefix(text, "/") || strings.Contains(text, "#") {
		return nil, false
	}
	u, err := url.ParseRequestURI(text)
	return u, err == nil
}

// node returns the address that the proxy itself has written: the rightmost of a list.
func (d *dialect) node(lines []string) string {
	switch {
	case d.list && len(lines) > 0:
		last := lines[len(lines)-1]
		return strings.Trim(last[strings.LastIndexByte(last, ',')+1:], " \t")
	case len(lines) == 1:
		return strings.Trim(lines[0], " \t")
	}
	return ""
}

var direct = httplimit.ClientAddress()

// readable reports whether text is the address of a client.
func readable(text string) bool {
	return !direct(&http.Request{RemoteAddr: text}).IsUnspecified()
}
