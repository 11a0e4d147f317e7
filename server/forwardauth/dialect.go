package forwardauth

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/httplimit"
)

// dialect is how one proxy describes the request that it asks about, and what it makes
// of the answer. The names of header fields are in the form that net/http gives them.
type dialect struct {
	name              string
	method, uri, host string
	client            string                                        // the field with the address of the client
	list              bool                                          // in which further addresses may stand before it
	trust             func(...netip.Prefix) httplimit.AddressOption // how that is read
	length            string                                        // of the body; empty: the proxy does not tell
	only403           bool                                          // takes no other refusal, and drops the body
}

var dialects = [...]dialect{
	{
		name: "nginx", method: "X-Original-Method", uri: "X-Original-Uri", host: "X-Original-Host",
		client: "X-Real-Ip", trust: httplimit.XRealIP, length: "X-Original-Length", only403: true,
	},
	{
		name: "caddy", method: "X-Forwarded-Method", uri: "X-Forwarded-Uri", host: "X-Forwarded-Host",
		client: "X-Forwarded-For", list: true, trust: httplimit.TrustProxies,
	},
	{
		name: "haproxy", method: "X-Forwarded-Method", uri: "X-Forwarded-Uri", host: "X-Forwarded-Host",
		client: "X-Forwarded-For", list: true, trust: httplimit.TrustProxies,
	},
	{
		name: "traefik", method: "X-Forwarded-Method", uri: "X-Forwarded-Uri", host: "X-Forwarded-Host",
		client: "X-Forwarded-For", list: true, trust: httplimit.TrustProxies,
	},
}

// dialectAt returns the dialect of an endpoint, or nil if there is none.
func dialectAt(path string) *dialect {
	name, ok := strings.CutPrefix(path, Prefix)
	for i := range dialects {
		if ok && dialects[i].name == name {
			return &dialects[i]
		}
	}
	return nil
}

// options are those of the limits. A preflight request counts: whether it has a body,
// which would make it none, cannot be seen from here.
func (d *dialect) options(trusted []netip.Prefix) []httplimit.RulesOption {
	all := []httplimit.RulesOption{d.trust(trusted...), httplimit.CountPreflight(), httplimit.Subrequests()}
	if d.only403 {
		all = append(all, httplimit.NoPage()) // it has to fit into a header field
	}
	return all
}

// lengthOf returns how long the body of the original request is, -1 if that is not
// known. HTTP/2 requests need not tell; those without a body by their method have none.
func (d *dialect) lengthOf(h http.Header, method string) int64 {
	if n, err := strconv.ParseInt(h.Get(d.length), 10, 64); d.length != "" && err == nil && n >= 0 {
		return n
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return 0
	}
	return -1
}
