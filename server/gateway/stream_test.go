package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/gateway"
)

// Every event reaches the client before the next is sent, also with a known length.
func TestEventsAreFlushed(t *testing.T) {
	next := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "30")
		}
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	for _, path := range []string{"/", "/length"} {
		for _, method := range []string{"GET", "POST"} {
			res, err := g.client.Do(request(t, method, g.url+path, ""))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				part := make([]byte, 10)
				if _, err := io.ReadFull(res.Body, part); err != nil || !strings.HasPrefix(string(part), fmt.Sprintf("data: %d", i)) {
					t.Fatalf("%q %v", part, err)
				}
				next <- struct{}{}
			}
			_ = res.Body.Close()
		}
	}
}

// A request's body reaches the upstream while it is still being sent, and the answer
// comes back meanwhile.
func TestBothWaysAtTheSameTime(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			fmt.Fprintln(w, "echo", lines.Text())
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	from, to := io.Pipe()
	r := request(t, "POST", g.url+"/", "")
	r.Body, r.ContentLength = from, -1
	answered := make(chan *http.Response, 1)
	go func() {
		res, err := g.client.Do(r)
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	fmt.Fprintln(to, "one")
	res := <-answered
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for _, word := range []string{"one", "two", "three"} {
		if word != "one" {
			fmt.Fprintln(to, word)
		}
		if line, err := lines.ReadString('\n'); line != "echo "+word+"\n" {
			t.Errorf("%q %v", line, err)
		}
	}
	_ = to.Close()
}

// A server that says no before it has seen the body is heard. What it says before that
// must not get between the lines of 100, which nothing guards.
func TestExpectContinue(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/early" {
			w.WriteHeader(http.StatusEarlyHints)
		}
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	g.client.Transport.(*http.Transport).ExpectContinueTimeout = 20 * time.Second
	for path, want := range map[string]string{"/yes": "200 1000", "/no": "403 "} {
		res, text := g.do(request(t, "PUT", g.url+path, strings.Repeat("x", 1000), "Expect", "100-continue"))
		if got := fmt.Sprintf("%d %s", res.StatusCode, text); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	const early = "PUT /early HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
	if got := g.raw(early); !strings.HasPrefix(got, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n") {
		t.Errorf("%q", got)
	}
}

// upgrading is a server that echoes lines after a change of protocol.
func upgrading(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "lines" || r.Header.Get("Connection") != "Upgrade" {
			w.WriteHeader(http.StatusUpgradeRequired)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\nX-Chosen: yes\r\n\r\nwelcome\n")
		_ = rw.Flush()
		for {
			line, err := rw.ReadString('\n')
			if err != nil || line == "bye\n" {
				return
			}
			fmt.Fprint(rw, "echo ", line)
			_ = rw.Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// upgrade opens a tunnel, with the first line in the same packet as the request.
func (r *running) upgrade() (net.Conn, *bufio.Reader) {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(c, "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: lines\r\n\r\nfirst\n")
	reader := bufio.NewReader(c)
	res, err := http.ReadResponse(reader, nil)
	if err != nil || res.StatusCode != 101 || res.Header.Get("X-Chosen") != "yes" || res.Header.Get("Upgrade") != "lines" {
		r.t.Fatalf("%+v %v", res, err)
	}
	for _, want := range []string{"welcome\n", "echo first\n"} {
		if line, err := reader.ReadString('\n'); line != want {
			r.t.Fatalf("%q %v", line, err)
		}
	}
	return c, reader
}

func TestTunnel(t *testing.T) {
	g := start(t, single(upgrading(t).URL))
	c, reader := g.upgrade()
	for i := range 100 {
		fmt.Fprintf(c, "%d\n", i)
		if line, err := reader.ReadString('\n'); line != fmt.Sprintf("echo %d\n", i) {
			t.Fatalf("%q %v", line, err)
		}
	}
	fmt.Fprint(c, "bye\n")
	if _, err := reader.ReadString('\n'); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	// Without Connection: Upgrade the field is not for us, and h2c is for neighbours only.
	for _, fields := range []string{"Upgrade: lines\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"} {
		if text := g.raw("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "Connection: close\r\n\r\n"); !strings.HasPrefix(text, "HTTP/1.1 426") {
			t.Errorf("%q", text)
		}
	}
}

func TestTunnelIsCutWhenNothingMoves(t *testing.T) {
	g := start(t, single(upgrading(t).URL, "timeouts: {idle: 50ms}"))
	_, reader := g.upgrade()
	if _, err := reader.ReadString('\n'); err == nil {
		t.Error("it says something")
	}
}

// Shutdown waits for tunnels, as long as it may.
func TestShutdownWaitsForTunnels(t *testing.T) {
	g := start(t, single(upgrading(t).URL))
	c, reader := g.upgrade()
	over := make(chan error, 1)
	go func() { over <- g.Shutdown(context.Background()) }()
	fmt.Fprint(c, "still there\n")
	if line, err := reader.ReadString('\n'); line != "echo still there\n" {
		t.Errorf("%q %v", line, err)
	}
	fmt.Fprint(c, "bye\n")
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestShutdownCuts(t *testing.T) {
	g := start(t, single(upgrading(t).URL))
	_, reader := g.upgrade()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Shutdown(ctx); err == nil {
		t.Error("nothing was cut")
	}
	if _, err := reader.ReadString('\n'); err == nil {
		t.Error("it goes on")
	}
}

func TestHTTP2(t *testing.T) {
	up := mirror(t)
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	secure := start(t, single(up.URL), func(o *gateway.Options) {
		o.TLS = &tls.Config{Certificates: certificate.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	})
	clear := start(t, single(up.URL))
	secure.url = strings.Replace(secure.url, "http:", "https:", 1)
	pool := certificate.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for g, transport := range map[*running]*http.Transport{
		secure: {TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com"}, ForceAttemptHTTP2: true},
		clear:  {},
	} {
		if g == clear {
			transport.Protocols = new(http.Protocols)
			transport.Protocols.SetUnencryptedHTTP2(true)
		}
		g.client.Transport = transport
		for _, c := range []struct{ method, body string }{{"GET", ""}, {"POST", "content"}} {
			res, text := g.do(request(t, c.method, g.url+"/x?y", c.body))
			if res.ProtoMajor != 2 || !strings.Contains(text, `"URI":"/x?y"`) || !strings.Contains(text, `"Body":"`+c.body+`"`) {
				t.Errorf("%s %s %s", res.Proto, res.Status, text)
			}
			if want := strings.TrimSuffix(g.url[:5], ":"); !strings.Contains(text, `"X-Forwarded-Proto":["`+want+`"]`) {
				t.Errorf("no %s in %s", want, text)
			}
		}
	}
}

// gRPC needs HTTP/2 on both sides, and trailers.
func TestHTTP2Upstream(t *testing.T) {
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		fmt.Fprint(w, r.Proto)
		w.Header().Set("Grpc-Status", "0")
	}))
	up.Config.Protocols = new(http.Protocols)
	up.Config.Protocols.SetUnencryptedHTTP2(true)
	up.Start()
	defer up.Close()
	g := start(t, single(strings.Replace(up.URL, "http:", "h2c:", 1)))
	for _, method := range []string{"GET", "POST"} {
		if res, text := g.do(request(t, method, g.url+"/", "")); text != "HTTP/2.0" || res.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("%s %q %v", res.Status, text, res.Trailer)
		}
	}
}
