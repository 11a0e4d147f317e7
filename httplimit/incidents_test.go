package httplimit_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// Each test here is a mistake that was made elsewhere. one admits a single request per
// client, so that the second answer tells whether two requests were one client's.
func one(opts ...httplimit.KeyedOption) http.Handler {
	return httplimit.ByIP(sluice.PerHour(1), opts...)(served)
}

func sameClient(t *testing.T, h http.Handler, first, second *http.Request) bool {
	t.Helper()
	wantStatus(t, "first request", serve(h, first), http.StatusOK)
	return serve(h, second).StatusCode == http.StatusTooManyRequests
}

// CVE-2026-30827 (express-rate-limit): an IPv6 mask on ::ffff:a.b.c.d gave all IPv4
// clients one bucket.
func TestMappedIPv4ClientsDoNotShareABucket(t *testing.T) {
	for _, bits := range []int{32, 48, 56, 64} {
		h := one(httplimit.IPv6Prefix(bits))
		if sameClient(t, h, request("[::ffff:203.0.113.1]:1"), request("[::ffff:203.0.113.2]:1")) {
			t.Errorf("/%d: two IPv4 clients share a bucket", bits)
		}
		if serve(h, request("203.0.113.1:1")).StatusCode != http.StatusTooManyRequests {
			t.Errorf("/%d: the mapped form is another client than the plain one", bits)
		}
	}
}

// CVE-2026-90711 (proxy-addr): the network ::ffff:10.0.0.0/8 trusted everyone.
func TestMappedTrustNetworkIsRefused(t *testing.T) {
	if _, err := httplimit.ParsePrefixes("::ffff:10.0.0.0/8"); err == nil {
		t.Error("taken")
	}
	h := one(httplimit.TrustProxies(prefixes("::ffff:10.0.0.0/104")...))
	if !sameClient(t, h, request("203.0.113.1:1", xff, "1.1.1.1"), request("203.0.113.1:1", xff, "2.2.2.2")) {
		t.Error("a stranger's header is believed")
	}
}

// CVE-2026-33376 (Grafana): a bare IPv6 address was taken as a /32.
func TestBareIPv6ProxyIsOneAddress(t *testing.T) {
	h := one(httplimit.TrustProxies(prefixes("2001:db8::1")...))
	if !sameClient(t, h, request("[2001:db8::2]:1", xff, "1.1.1.1"), request("[2001:db8::2]:1", xff, "2.2.2.2")) {
		t.Error("its neighbour is believed")
	}
}

// CVE-2026-27624 (coturn): the mapped form of an address was a way round its rule.
func TestMappedFormIsNoWayRound(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{
		Name: "banned", Match: rule.Match{IPs: []string{"203.0.113.0/24"}}, Limits: []rule.Limit{{Limit: sluice.MustParse("0/s")}},
	}}})
	h := httplimit.Rules(e)(served)
	for _, remote := range []string{"203.0.113.5:1", "[::ffff:203.0.113.5]:1", "[::ffff:cb00:7105]:1"} {
		wantStatus(t, remote, serve(h, request(remote)), http.StatusTooManyRequests)
	}
	wantStatus(t, "somebody else", serve(h, request("198.51.100.5:1")), http.StatusOK)
}

// CVE-2021-29923 (Go before 1.17): leading zeros were dropped where others read octal.
func TestLeadingZerosAreRefused(t *testing.T) {
	own := httplimit.TrustProxies(prefixes(ownNets)...)
	for _, text := range []string{"010.8.8.8", "1.02.3.4", "0x7f.0.0.1", "127.1", "2130706433"} {
		if got := httplimit.ClientAddress(own)(request("10.0.0.1:1", xff, text)); got.String() != "10.0.0.1" {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

// GHSA-9g5q-2w5x-hmxf (chi RealIP), CVE-2020-28483 (gin), fastapi-limiter, MyTube
// GHSA-59gr-529g-x45h: who changed the left end of X-Forwarded-For with every request
// had no limit.
func TestRotatingForwardedForIsOneClient(t *testing.T) {
	for name, h := range map[string]http.Handler{
		"direct":        one(),
		"behind proxy":  one(httplimit.TrustProxies(prefixes(ownNets)...)),
		"by hops":       one(httplimit.TrustHops(1)),
		"load balancer": one(httplimit.AWSALB(prefixes(ownNets)...)),
	} {
		remote, tail := "10.0.0.1:1", ", 203.0.113.7"
		if name == "direct" {
			remote, tail = "203.0.113.7:1", ""
		}
		admitted := 0
		for i := range 50 {
			if serve(h, request(remote, xff, fmt.Sprintf("198.51.100.%d%s", i, tail))).StatusCode == http.StatusOK {
				admitted++
			}
		}
		if admitted != 1 {
			t.Errorf("%s: %d requests admitted", name, admitted)
		}
	}
}

// worldmonitor: a client wrote another one's address into the header and used up that
// one's budget.
func TestVictimsBudgetCannotBeSpent(t *testing.T) {
	h := one(httplimit.TrustProxies(prefixes(ownNets)...))
	const victim = "198.51.100.66"
	for range 5 {
		serve(h, request("10.0.0.1:1", xff, victim+", 203.0.113.7"))
		serve(h, request("203.0.113.8:1", xff, victim))
	}
	wantStatus(t, "victim", serve(h, request("10.0.0.1:1", xff, victim)), http.StatusOK)
}

// CVE-2024-45410 (Traefik): "Connection: X-Real-Ip" made the proxy drop the header that
// it had set itself.
func TestHopByHopHeadersAreNotBelieved(t *testing.T) {
	for _, c := range []struct {
		option httplimit.AddressOption
		header string
		value  string
	}{
		{httplimit.XRealIP(prefixes(ownNets)...), "X-Real-Ip", "1.2.3.4"},
		{httplimit.TrustProxies(prefixes(ownNets)...), xff, "1.2.3.4"},
		{httplimit.TrustForwarded(prefixes(ownNets)...), fwd, "for=1.2.3.4"},
		{httplimit.TrustHops(1), xff, "1.2.3.4"},
	} {
		for _, connection := range []string{c.header, "close, " + strings.ToLower(c.header), "keep-alive ,\t" + c.header + " "} {
			r := request("10.0.0.1:1", c.header, c.value, "Connection", connection)
			if got := httplimit.ClientAddress(c.option)(r); got.String() != "10.0.0.1" {
				t.Errorf("Connection: %s: %v", connection, got)
			}
		}
	}
}

// CVE-2024-45806 (Envoy): private addresses were internal without being asked.
func TestPrivateAddressesAreNotTrusted(t *testing.T) {
	for _, remote := range []string{"10.0.0.1:1", "192.168.1.1:1", "127.0.0.1:1", "[::1]:1", "[fd00::1]:1", "169.254.0.1:1"} {
		if !sameClient(t, one(), request(remote, xff, "1.1.1.1"), request(remote, xff, "2.2.2.2")) {
			t.Errorf("%s is believed", remote)
		}
	}
}

// CVE-2023-25725 (HAProxy): an empty header name hid the headers behind it. The server
// refuses such a request before we see it.
func TestEmptyHeaderNameIsRefused(t *testing.T) {
	srv := httptest.NewServer(one())
	defer srv.Close()
	for _, bad := range []string{": x", "X-Forwarded-For : 1.2.3.4", "X-Forwarded-For\x00: 1.2.3.4"} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", bad)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantStatus(t, bad, res, http.StatusBadRequest)
		_ = conn.Close()
	}
}

// CVE-2025-29927 (Next.js): a header that was meant for inside switched the middleware
// off. No header does that here.
func TestNoHeaderSwitchesTheLimitOff(t *testing.T) {
	names := []string{
		"X-Middleware-Subrequest", "X-Envoy-Internal", "X-Internal", "X-Original-Url", "X-Rewrite-Url", "X-Client-Ip",
		"Client-Ip", "True-Client-Ip", "X-Cluster-Client-Ip", "X-Originating-Ip", "X-Remote-Addr", "X-Http-Method-Override", "X_Forwarded_For",
	}
	h := one(httplimit.TrustProxies(prefixes(ownNets)...), httplimit.Health("/healthz"))
	wantStatus(t, "first", serve(h, request("10.0.0.1:1", xff, "203.0.113.7")), http.StatusOK)
	for i, name := range names {
		for _, value := range []string{fmt.Sprintf("198.51.100.%d", i), "1", "/healthz", "OPTIONS"} {
			wantStatus(t, name+": "+value, serve(h, request("10.0.0.1:1", xff, "203.0.113.7", name, value)), http.StatusTooManyRequests)
		}
	}
}

// Cloudflare's /path and /path/, CVE-2016-5007 (Spring), CVE-2023-45539 (HAProxy),
// CVE-2021-41773 (httpd): a path that is written in another way was another path.
func TestOddPathsAreNoWayRound(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{
		Name: "login", Match: rule.Match{Paths: []string{"/login"}}, Limits: []rule.Limit{{Limit: sluice.PerHour(1)}},
	}}})
	srv := httptest.NewServer(httplimit.Rules(e, httplimit.Health("/healthz"))(served))
	defer srv.Close()
	wantStatus(t, "first", raw(t, srv, "/login"), http.StatusOK)
	for _, path := range []string{
		"/login", "/login/", "//login", "/./login", "/a/../login", "/%6cogin", "/l%6Fgin", "/%2e/login", "/a/%2e%2e/login", "/login?x=1",
		"/login//", "/healthz/../login", "/healthz/%2e%2e/login",
	} {
		wantStatus(t, path, raw(t, srv, path), http.StatusTooManyRequests)
	}
	for _, path := range []string{"/a%2f..%2flogin", "/login;x=1", "/login%3bx", `/login\`, "/login%00", "/%c0%aelogin", "/login%5c", "/healthz;/login", "/../login", "/.%2e/login"} {
		if got := raw(t, srv, path).StatusCode; got != http.StatusBadRequest && got != http.StatusTooManyRequests {
			t.Errorf("%s: status %d", path, got)
		}
	}
	for _, path := range []string{"/logins", "/login/x", "/healthz"} {
		wantStatus(t, path, raw(t, srv, path), http.StatusOK)
	}
}

// raw sends a path just as it is written.
func raw(t *testing.T, srv *httptest.Server, path string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
