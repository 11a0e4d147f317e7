package httplimit_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

const (
	xff     = "X-Forwarded-For"
	fwd     = "Forwarded"
	ownNets = "10.0.0.0/8"
)

// TestClientAddress: who is charged, for every way to be told of the client.
func TestClientAddress(t *testing.T) {
	own := prefixes(ownNets, "2001:db8:ffff::/48")
	options := map[string][]httplimit.AddressOption{
		"none":       nil,
		"proxies":    {httplimit.TrustProxies(own...)},
		"forwarded":  {httplimit.TrustForwarded(own...)},
		"hops1":      {httplimit.TrustHops(1)},
		"hops2":      {httplimit.TrustHops(2)},
		"cloudflare": {httplimit.Cloudflare(own...)},
		"nginx":      {httplimit.XRealIP(own...)},
		"alb":        {httplimit.AWSALB(own...)},
		"google":     {httplimit.GoogleCloud()},
		"fly":        {httplimit.ClientHeader("fly-client-ip", own...)},
		"unix":       {httplimit.UnixSocket(own...)},
	}
	for _, c := range []struct {
		option, remote string
		header         []string
		want           string
	}{
		{"none", "203.0.113.9:1234", []string{xff, "1.2.3.4", fwd, "for=1.2.3.4", "X-Real-Ip", "1.2.3.4"}, "203.0.113.9"},
		{"none", "[2001:db8::7]:1234", nil, "2001:db8::7"},
		{"none", "[::ffff:203.0.113.9]:1234", nil, "203.0.113.9"},
		{"none", "[fe80::1%eth0]:1234", nil, "fe80::1"},
		{"none", "203.0.113.9", nil, "203.0.113.9"},
		{"none", "", nil, "0.0.0.0"},
		{"none", "@", nil, "0.0.0.0"},
		{"none", "nonsense:80", nil, "0.0.0.0"},

		{"proxies", "203.0.113.9:1", []string{xff, "1.2.3.4"}, "203.0.113.9"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4"}, "1.2.3.4"},
		{"proxies", "10.0.0.1:1", []string{xff, "6.6.6.6, 1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{"proxies", "10.0.0.1:1", []string{xff, "6.6.6.6", xff, "1.2.3.4", xff, "10.0.0.2"}, "1.2.3.4"},
		{"proxies", "[::ffff:10.0.0.1]:1", []string{xff, "::ffff:1.2.3.4"}, "1.2.3.4"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4:5678"}, "1.2.3.4"},
		{"proxies", "10.0.0.1:1", []string{xff, "[2001:db8::5]:5678"}, "2001:db8::5"},
		{"proxies", "10.0.0.1:1", []string{xff, "[2001:db8::5]"}, "2001:db8::5"},
		{"proxies", "10.0.0.1:1", []string{xff, "fe80::5%25eth0"}, "fe80::5"},
		{"proxies", "10.0.0.1:1", nil, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, ""}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "10.0.0.9, 10.0.0.2"}, "10.0.0.9"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4, junk, 10.0.0.2"}, "10.0.0.2"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4,"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4", xff, ""}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "01.2.3.4"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4:99999"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4:http"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "1.2.3.4%eth0"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "[1.2.3.4]"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "0.0.0.0"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "::"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{xff, "\x00"}, "10.0.0.1"},
		{"proxies", "10.0.0.1:1", []string{fwd, "for=1.2.3.4"}, "10.0.0.1"},

		{"forwarded", "10.0.0.1:1", []string{fwd, "for=1.2.3.4"}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `For="1.2.3.4:80";proto=https;by=10.0.0.1`}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `by=10.0.0.1; for="[2001:db8::5]:4711"`}, "2001:db8::5"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for=6.6.6.6, for=1.2.3.4, for="[2001:db8:ffff::2]"`}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, "for=6.6.6.6", fwd, "for=1.2.3.4", fwd, "for=10.0.0.2"}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for="6.6.6.6, for=1.2.3.4`}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for=", for="[2001:db8::5]"`}, "2001:db8::5"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `host="a,b;c";for=1.2.3.4`}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for=1.2.3.4;host="a\",b"`}, "1.2.3.4"},
		{"forwarded", "10.0.0.1:1", []string{fwd, "for=1.2.3.4, for=unknown"}, "10.0.0.1"},
		{"forwarded", "10.0.0.1:1", []string{fwd, "for=1.2.3.4, for=_hidden, for=10.0.0.2"}, "10.0.0.2"},
		{"forwarded", "10.0.0.1:1", []string{fwd, "for=1.2.3.4;for=6.6.6.6"}, "10.0.0.1"},
		{"forwarded", "10.0.0.1:1", []string{fwd, "proto=https"}, "10.0.0.1"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for="2001:db8::5"`}, "10.0.0.1"},
		{"forwarded", "10.0.0.1:1", []string{fwd, `for="1.2.3\.4"`}, "10.0.0.1"},
		{"forwarded", "10.0.0.1:1", []string{xff, "1.2.3.4"}, "10.0.0.1"},

		{"hops1", "198.51.100.1:1", []string{xff, "6.6.6.6, 1.2.3.4"}, "1.2.3.4"},
		{"hops1", "198.51.100.1:1", nil, "198.51.100.1"},
		{"hops2", "198.51.100.1:1", []string{xff, "6.6.6.6, 1.2.3.4, 198.51.100.2"}, "1.2.3.4"},
		{"hops2", "198.51.100.1:1", []string{xff, "1.2.3.4"}, "1.2.3.4"},
		{"hops2", "198.51.100.1:1", []string{xff, "junk, 198.51.100.2"}, "198.51.100.2"},

		{"cloudflare", "10.0.0.1:1", []string{"CF-Connecting-IP", " 1.2.3.4 ", xff, "6.6.6.6"}, "1.2.3.4"},
		{"cloudflare", "203.0.113.9:1", []string{"CF-Connecting-IP", "1.2.3.4"}, "203.0.113.9"},
		{"cloudflare", "10.0.0.1:1", []string{"CF-Connecting-IP", "6.6.6.6", "CF-Connecting-IP", "1.2.3.4"}, "10.0.0.1"},
		{"nginx", "10.0.0.1:1", []string{"X-Real-IP", "1.2.3.4"}, "1.2.3.4"},
		{"nginx", "10.0.0.1:1", []string{"X-Real-IP", "1.2.3.4, 6.6.6.6"}, "10.0.0.1"},
		{"fly", "10.0.0.1:1", []string{"Fly-Client-IP", "2001:db8::5"}, "2001:db8::5"},
		{"alb", "10.0.0.1:1", []string{xff, "6.6.6.6, 10.0.7.7"}, "10.0.7.7"},
		{"alb", "203.0.113.9:1", []string{xff, "1.2.3.4"}, "203.0.113.9"},
		{"google", "35.191.3.3:1", []string{xff, "6.6.6.6,1.2.3.4,198.51.100.1"}, "1.2.3.4"},
		{"google", "203.0.113.9:1", []string{xff, "1.2.3.4,198.51.100.1"}, "203.0.113.9"},
		{"unix", "@", []string{xff, "1.2.3.4"}, "0.0.0.0"}, // no Unix socket, just nonsense
		{"unix", "10.0.0.1:1", []string{xff, "1.2.3.4"}, "1.2.3.4"},
	} {
		got := httplimit.ClientAddress(options[c.option]...)(request(c.remote, c.header...))
		if got.String() != c.want {
			t.Errorf("%s, from %q with %q: %v, want %v", c.option, c.remote, c.header, got, c.want)
		}
	}
}

func TestUnixSocketClientsAreTold(t *testing.T) {
	r := request("@", xff, "6.6.6.6, 1.2.3.4, 10.0.0.2")
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.UnixAddr{Name: "/run/x", Net: "unix"}))
	if got := httplimit.ClientAddress(httplimit.UnixSocket(prefixes(ownNets)...))(r); got.String() != "1.2.3.4" {
		t.Errorf("behind a proxy: %v", got)
	}
	if got := httplimit.ClientAddress(httplimit.UnixSocket())(r); got.String() != "10.0.0.2" {
		t.Errorf("no proxy is named: %v", got)
	}
	if got := httplimit.ClientAddress(httplimit.TrustProxies(prefixes(ownNets)...))(r); got.String() != "0.0.0.0" {
		t.Errorf("the socket is not trusted: %v", got)
	}
}

// TestParsePrefixes: networks are what they look like.
func TestParsePrefixes(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8":           "10.0.0.0/8",
		"10.1.2.3/8":           "10.0.0.0/8",
		"192.0.2.1":            "192.0.2.1/32",
		" 2001:db8::1 ":        "2001:db8::1/128",
		"::ffff:10.0.0.0/104":  "10.0.0.0/8",
		"::ffff:192.0.2.1":     "192.0.2.1/32",
		"::ffff:0.0.0.0/96":    "0.0.0.0/0 trusts everybody",
		"::/0":                 "::/0 trusts everybody",
		"::ffff:10.0.0.0/8":    "would trust everybody (write it as IPv4: 10.0.0.0/8)",
		"::ffff:0.0.0.0/95":    "would trust everybody",
		"010.0.0.0/8":          "no network",
		"10.0.0.0/33":          "no network",
		"10.0.0.0/08":          "no network",
		"example.com":          "no address",
		"fe80::1%eth0":         "no address",
		"":                     "no address",
		"10.0.0.0/8,10.1.0.0/": "no network",
	} {
		got, err := httplimit.ParsePrefixes(text)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q, want %q", text, err, want)
			}
		case got[0].String() != want:
			t.Errorf("%q: %v, want %v", text, got[0], want)
		}
	}
}

// TestAddressKey: keys that are made by hand are those that ByIP makes.
func TestAddressKey(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "64:ff9b::c000:201": "192.0.2.1", "2001:db8::1%eth0": "2001:db8::/64", "::1": "::1",
	} {
		log := &keyLog{}
		serve(httplimit.Middleware(sluice.NewKeyed(sluice.PerHour(1), sluice.WithObserver(log)))(served), request(net.JoinHostPort(text, "1")))
		if got := httplimit.AddressKey(netip.MustParseAddr(text)); got != want || log.last != want {
			t.Errorf("%s: %s, and by address %s, want %s", text, got, log.last, want)
		}
	}
}
