package api

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestHosts: without tokens, only who names the server by an address of its own is
// answered.
func TestHosts(t *testing.T) {
	f := newFake(t, sample, nil)
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080} }
	for _, c := range []struct {
		host  string
		local net.Addr
		ok    bool
	}{
		{"127.0.0.1:8080", at("127.0.0.1"), true},
		{"127.0.0.1", nil, true},
		{"127.8.9.10:1", at("127.0.0.1"), true},
		{"localhost:8080", at("127.0.0.1"), true},
		{"LocalHost", at("::1"), true},
		{"[::1]:8080", at("::1"), true},
		{"[::1]", at("::1"), true},
		{"[::ffff:127.0.0.1]:8080", at("127.0.0.1"), true},
		{"192.0.2.7:8080", at("192.0.2.7"), true},
		{"[2001:db8::7]:8080", at("2001:db8::7"), true},
		{"", at("127.0.0.1"), true},
		{"anything", &net.UnixAddr{Name: "/run/sluice", Net: "unix"}, true},
		{"evil.example", at("127.0.0.1"), false},
		{"evil.example:8080", at("192.0.2.7"), false},
		{"localhost.evil.example", at("127.0.0.1"), false},
		{"127.0.0.1.evil.example", at("127.0.0.1"), false},
		{"127.0.0.1@evil.example", at("127.0.0.1"), false},
		{"[::1].evil.example", at("::1"), false},
		{"[::1", at("::1"), false},
		{"192.0.2.8", at("192.0.2.7"), false},
		{"192.0.2.8", nil, false},
		{"0.0.0.0:8080", at("127.0.0.1"), false},
		{":8080", at("127.0.0.1"), false},
		{"[", at("127.0.0.1"), false},
	} {
		named := func(r *http.Request) {
			*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
			r.Host = c.host
		}
		w := ask(New(f, Options{}), "GET", "/v1/stats", "", named)
		if c.ok && w.Code != http.StatusOK {
			t.Errorf("%q: status %d: %s", c.host, w.Code, w.Body)
		}
		if !c.ok {
			wantProblem(t, w, http.StatusForbidden, "unknown-host", "tokens")
		}
		if w = ask(New(f, Options{}), "GET", "/healthz", "", named); w.Code != http.StatusOK {
			t.Errorf("%q: not healthy: status %d", c.host, w.Code)
		}
		tokens := New(f, Options{Tokens: [][32]byte{HashToken("a")}})
		if w = ask(tokens, "GET", "/v1/stats", "", named, authorization("Bearer a")); w.Code != http.StatusOK {
			t.Errorf("%q with a token: status %d", c.host, w.Code)
		}
	}
}

// TestHostsOverConnections: what net/http makes of a request is understood.
func TestHostsOverConnections(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		listener, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(New(newFake(t, sample, nil), Options{}))
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		defer server.Close()
		for request, status := range map[string]int{
			"GET /v1/stats HTTP/1.0\r\n\r\n":                                       200,
			"GET /v1/stats HTTP/1.0\r\nHost: evil.example\r\n\r\n":                 403,
			"GET /v1/stats HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n":            403,
			"GET http://evil.example/v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n": 403,
			"GET /v1/stats HTTP/1.1\r\nHost: localhost:8080\r\n\r\n":               200,
		} {
			if network == "unix" {
				status = 200
			}
			if got := statusOf(t, listener.Addr(), request); got != status {
				t.Errorf("%s: %s: status %d, want %d", network, strings.TrimSpace(request), got, status)
			}
		}
	}
}

// statusOf sends a request as it is.
func statusOf(t *testing.T, to net.Addr, request string) int {
	t.Helper()
	conn, err := net.Dial(to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err = io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
