package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// nowhere is an address where nobody listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// What a server does wrong is answered with a problem, and told apart.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, answer, method string
		want, kind           string
		asked                int
	}{
		{"closes at once", "", "GET", "502 no-answer", "no_answer", 1},
		{"closes at once", "", "POST", "502 no-answer", "no_answer", 1},
		{"is no answer", "SMTP ready\r\n\r\n", "GET", "502 invalid-answer", "garbled", 1},
		{"is no answer", "SMTP ready\r\n\r\n", "POST", "502 invalid-answer", "garbled", 1},
		{"half a header", "HTTP/1.1 200 OK\r\nX-Half", "GET", "502", "garbled", 1},
		{"changes the protocol unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "GET", "502 invalid-answer", "garbled", 1},
		{"changes the protocol unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "POST", "502 invalid-answer", "", 1},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "GET", "502 invalid-answer", "garbled", 1},
		{"a header without end", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2<<20), "GET", "502", "garbled", 1},
		{"a line without end", strings.Repeat("x", 2<<20), "POST", "502", "", 1},
	} {
		t.Run(c.method+" "+c.name, func(t *testing.T) {
			up := script(t, c.answer+"CLOSE", ok)
			g := start(t, single(up.url))
			res, text := g.do(request(t, c.method, g.url+"/", ""))
			status, word, _ := strings.Cut(c.want, " ")
			if fmt.Sprint(res.StatusCode) != status || !strings.Contains(text, "urn:sluice:problem:"+word) || res.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s", res.Status, text)
			}
			if len(up.heads()) != c.asked {
				t.Errorf("asked %d times", len(up.heads()))
			}
			if c.kind != "" && g.count("sluice_gateway_upstream_failures_total", c.kind) != 1 {
				t.Errorf("no failure %s", c.kind)
			}
		})
	}
}

func TestRetriesAreSafe(t *testing.T) {
	for _, c := range []struct {
		method, body string
		first        string // what the first server does
		status       int
		second       int // how often the second is asked
	}{
		{"GET", "", "refuses", 200, 1},
		{"POST", "", "refuses", 200, 1},
		{"POST", "content", "refuses", 200, 1}, // nothing was sent
		{"GET", "", "closes", 200, 1},
		{"HEAD", "", "closes", 200, 1},
		{"OPTIONS", "", "closes", 200, 1},
		{"POST", "", "closes", 502, 0}, // it may have been done
		{"PUT", "content", "closes", 502, 0},
		{"DELETE", "", "closes", 502, 0},
		{"GET", "", "babbles", 502, 0}, // an answer has begun
	} {
		t.Run(c.method+c.body+" "+c.first, func(t *testing.T) {
			bad := nowhere(t)
			switch c.first {
			case "closes":
				bad = script(t, "", "", "").url
			case "babbles":
				bad = script(t, "HTTP/1.1 2CLOSE").url
			}
			var asked atomic.Int64
			good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if text, _ := io.ReadAll(r.Body); string(text) != c.body {
					t.Errorf("body %q", text)
				}
			}))
			defer good.Close()
			// Whose turn is first is the second in the list.
			g := start(t, fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q, %q]}]}", good.URL, bad))
			res, _ := g.do(request(t, c.method, g.url+"/", c.body))
			if res.StatusCode != c.status || asked.Load() != int64(c.second) {
				t.Errorf("%s, the second was asked %d times", res.Status, asked.Load())
			}
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	g := start(t, fmt.Sprintf("gateway: {upstreams: [{name: app, retries: 2, servers: [%q, %q, %q, %q, %q]}]}", nowhere(t), nowhere(t), nowhere(t), nowhere(t), nowhere(t)))
	if res, text := g.get("/"); res.StatusCode != 502 || !strings.Contains(text, "unreachable") {
		t.Errorf("%s %s", res.Status, text)
	}
	if n := g.count("sluice_gateway_upstream_retries_total"); n != 2 {
		t.Errorf("%v retries", n)
	}
}

func TestTooLate(t *testing.T) {
	release := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer up.Close()
	defer close(release)
	g := start(t, single(up.URL, "timeouts: {answer: 20ms}"))
	for _, method := range []string{"GET", "POST"} {
		if res, text := g.do(request(t, method, g.url+"/", "")); res.StatusCode != 504 || !strings.Contains(text, "timeout") {
			t.Errorf("%s: %s %s", method, res.Status, text)
		}
	}
}

// An answer that breaks off must not look like a whole one.
func TestBrokenOff(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalfCLOSE",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nCLOSE",
	} {
		for _, method := range []string{"GET", "POST"} {
			g := start(t, single(script(t, answer).url))
			res, err := g.client.Do(request(t, method, g.url+"/", ""))
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			if err == nil {
				t.Errorf("%s %q: no error", method, answer)
			}
			eventually(t, "it is counted", func() bool { return g.count("sluice_gateway_upstream_failures_total", "cut_off") == 1 })
		}
	}
}

// A connection that the server has closed, or has written to unasked, is not used again.
func TestConnectionsAreUsedAgain(t *testing.T) {
	up := script(t, ok, ok, ok+"CLOSE", ok, ok+"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", ok)
	g := start(t, single(up.url))
	for i := range 6 {
		if res, text := g.get(fmt.Sprintf("/%d", i)); res.StatusCode != 200 || text != "ok" {
			t.Fatalf("request %d: %s %q", i, res.Status, text)
		}
	}
	if n := g.count("sluice_gateway_upstream_failures_total"); n != 0 {
		t.Errorf("%v failures", n)
	}
}

func TestClientLeaves(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		came, left := make(chan struct{}), make(chan struct{})
		up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(came)
			<-r.Context().Done()
			close(left)
		}))
		g := start(t, single(up.URL))
		c, err := net.Dial("tcp", g.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", method)
		<-came
		_ = c.Close()
		select {
		case <-left:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: the upstream does not notice", method)
		}
		eventually(t, "it is over", func() bool { return g.count("sluice_gateway_upstream_in_flight") == 0 })
		if n := g.count("sluice_gateway_upstream_failures_total"); n != 0 {
			t.Errorf("%s: %v failures", method, n)
		}
		up.Close()
	}
}
