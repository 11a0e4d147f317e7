package httplimit

import (
	"net/http"
	"net/netip"
	"strconv"
)

const (
	forwardedFor = "X-Forwarded-For"
	forwarded    = "Forwarded"
)

// TrustProxies believes X-Forwarded-For of proxies in these networks. It is read from
// right to left, over all its lines; the first address that is not in the networks is
// the client. It panics if a network makes no sense: see [ParsePrefixes].
func TrustProxies(prefixes ...netip.Prefix) AddressOption {
	return from("TrustProxies", source{header: forwardedFor, next: lastForwardedFor, trusted: mustTrust("TrustProxies", prefixes)})
}

// TrustForwarded is [TrustProxies] for proxies that send Forwarded (RFC 7239) instead.
func TrustForwarded(prefixes ...netip.Prefix) AddressOption {
	return from("TrustForwarded", source{header: forwarded, next: lastForwarded, trusted: mustTrust("TrustForwarded", prefixes)})
}

// TrustHops believes the last n addresses of X-Forwarded-For, whoever sent them: for
// exactly n proxies in a row whose addresses are not known. Nobody but the proxies may
// be able to reach the server, since whoever does so is believed.
func TrustHops(n int) AddressOption {
	if n < 1 {
		panic("httplimit: TrustHops: " + strconv.Itoa(n) + " is no number of proxies (leave the option out if there is none)")
	}
	return from("TrustHops", source{header: forwardedFor, next: lastForwardedFor, hops: n, anyPeer: true, unix: true})
}

// ClientHeader believes a header that holds just the client's address, if it comes
// from these networks: Fly-Client-IP, True-Client-IP, Fastly-Client-IP. The proxy must
// overwrite what the client sends under that name.
func ClientHeader(name string, prefixes ...netip.Prefix) AddressOption {
	if name == "" {
		panic("httplimit: ClientHeader: the header has no name")
	}
	return clientHeader("ClientHeader", name, prefixes)
}

func clientHeader(option, name string, prefixes []netip.Prefix) AddressOption {
	return from(option, source{header: http.CanonicalHeaderKey(name), single: true, trusted: mustTrust(option, prefixes)})
}

// Cloudflare believes CF-Connecting-IP from these networks: those that Cloudflare
// publishes, or those of the tunnel's end.
func Cloudflare(prefixes ...netip.Prefix) AddressOption {
	return clientHeader("Cloudflare", "CF-Connecting-IP", prefixes)
}

// XRealIP believes X-Real-IP from these networks: for nginx with
// "proxy_set_header X-Real-IP $remote_addr".
func XRealIP(prefixes ...netip.Prefix) AddressOption {
	return clientHeader("XRealIP", "X-Real-IP", prefixes)
}

// AWSALB believes the last address of X-Forwarded-For from an Application Load
// Balancer in these subnets. Other than with [TrustProxies], a client in the same
// network is a client and no proxy.
func AWSALB(subnets ...netip.Prefix) AddressOption {
	return from("AWSALB", source{header: forwardedFor, next: lastForwardedFor, hops: 1, trusted: mustTrust("AWSALB", subnets)})
}

// GoogleCloud believes X-Forwarded-For from Google Cloud's external Application Load
// Balancers, which connect from two fixed networks and append the client's address
// and their own.
func GoogleCloud() AddressOption {
	return from("GoogleCloud", source{header: forwardedFor, next: lastForwardedFor, hops: 2, trusted: networks{
		netip.MustParsePrefix("130.211.0.0/22"), netip.MustParsePrefix("35.191.0.0/16"),
	}})
}

// UnixSocket believes X-Forwarded-For from whoever connects to the server's Unix
// socket, and from further proxies in these networks.
func UnixSocket(prefixes ...netip.Prefix) AddressOption {
	s := source{header: forwardedFor, next: lastForwardedFor, unix: true}
	if len(prefixes) > 0 {
		s.trusted = mustTrust("UnixSocket", prefixes)
	}
	return from("UnixSocket", s)
}

// from is an option for a source. Two of them would be a mistake: each would believe
// headers that the proxies of the other let through.
func from(name string, s source) AddressOption {
	s.option = name
	return func(c *config) {
		if c.source.option != "" {
			panic("httplimit: two options say where the client's address is (" + c.source.option + " and " + name + "): give one")
		}
		c.source = s
	}
}

// ClientAddress returns what finds the address of who sent a request, for keys of your
// own and for logs: without options that of the connection. It is 0.0.0.0 if there is
// none, as at a Unix socket.
func ClientAddress(opts ...AddressOption) func(*http.Request) netip.Addr {
	var c config
	for _, o := range opts {
		o(&c)
	}
	return c.source.client
}
