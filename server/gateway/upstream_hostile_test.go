package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// What a server says that wants to harm us, or another client: the answer comes through
// without it, or there is none, and the next one is not touched.
func TestHostileAnswers(t *testing.T) {
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	early := strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 50)
	for name, c := range map[string]struct {
		answer, want string
		without      []string
		once         bool // over the wire only: the standard transport does not tell, or notices too late
	}{
		"fields beside close":        {"HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: evil\r\nContent-Length: 2\r\n\r\nok", "200", nil, true},
		"fields beside close, again": {"HTTP/1.1 200 OK\r\nConnection: close\r\nconnection: X-Hop,\r\n\tX-Too\r\nX-Hop: evil\r\nX-Too: evil\r\nContent-Length: 2\r\n\r\nok", "200", nil, true},
		"fields beside keep-alive":   {"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: evil\r\nContent-Length: 2\r\n\r\nok", "200", nil, false},
		"flood of early ones":        {early + ok, "502", nil, false},
		"early ones without end":     {strings.Repeat(early, 100), "502", nil, false},
		"304 with a body":            {"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n" + evil, "304", nil, true},
		"204 with a body":            {"HTTP/1.1 204 No Content\r\n\r\n" + evil, "204", nil, true},
		"body after nothing":         {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + evil, "200", nil, true},
		"chunks and length":          {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + evil, "200", []string{"Content-Length: 50"}, true},
		"two lengths":                {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "502", nil, false},
		"list of lengths":            {"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", "502", nil, false},
		"plus":                       {"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "502", nil, false},
		"unknown coding":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "502", nil, false},
		"space before the colon":     {"HTTP/1.1 200 OK\r\nX-A : evil\r\nContent-Length: 2\r\n\r\nok", "200", nil, false},
		"no name":                    {"HTTP/1.1 200 OK\r\n: evil\r\nContent-Length: 2\r\n\r\nok", "502", nil, false},
		"folded first line":          {"HTTP/1.1 200 OK\r\n X: evil\r\nContent-Length: 2\r\n\r\nok", "502", nil, false},
		"CR in a value":              {"HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: evil\r\nContent-Length: 2\r\n\r\nok", "502", nil, false},
		"bare line ends":             {"HTTP/1.1 200 OK\nX-A: a\nContent-Length: 2\n\nok", "200", []string{"X-A: a\nC"}, false},
		"folded value":               {"HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\nok", "200", []string{"a\r\n b"}, false},
		"fields after the body":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nContent-Length: 99\r\nSet-Cookie: evil\r\nTransfer-Encoding: evil\r\n\r\n", "200", []string{"99"}, false},
		"large header":               {"HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 2<<20) + "\r\n\r\n", "502", nil, false},
	} {
		methods := []string{"GET", "OPTIONS"} // both ways to a server
		if c.once {
			methods = methods[:1]
		}
		for _, method := range methods {
			t.Run(name+" "+method, func(t *testing.T) {
				up := script(t, c.answer, ok, ok)
				g := start(t, single(up.url, "retries: 0"))
				ask := func() string {
					return g.raw(method + " / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, te\r\n\r\n")
				}
				got := ask()
				last := got[strings.LastIndex(got, "HTTP/1.1 "):]
				if !strings.HasPrefix(last, "HTTP/1.1 "+c.want+" ") {
					t.Errorf("%.500q", got)
				}
				for _, text := range append(c.without, "evil") {
					if strings.Contains(got, text) {
						t.Errorf("%q is in %.500q", text, got)
					}
				}
				if next := ask(); !strings.HasSuffix(next, "\r\n\r\nok") || strings.Contains(next, "evil") {
					t.Errorf("the next: %q", next)
				}
			})
		}
	}
}

// Bodies whose end nobody can tell break off for the client too.
func TestHostileBodies(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, answer := range map[string]string{
		"large chunk":            head + "10000000000000002\r\nok\r\n0\r\n\r\n",
		"negative chunk":         head + "-2\r\nok\r\n0\r\n\r\n",
		"no chunk":               head + "x\r\nok\r\n0\r\n\r\n",
		"longer than it says":    head + "2\r\nokay\r\n0\r\n\r\n",
		"extension without end":  head + "2;" + strings.Repeat("a", 100_000) + "\r\nok\r\n0\r\n\r\n",
		"many extensions":        head + strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\na\r\n", 500) + "0\r\n\r\n",
		"trailer without end":    head + "2\r\nok\r\n0\r\nX-A: " + strings.Repeat("a", 100_000),
		"ends without the chunk": head + "2\r\nok\r\n",
		"ends in the chunk":      head + "5\r\nok",
		"ends early":             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
	} {
		for _, method := range []string{"GET", "OPTIONS"} {
			t.Run(name+" "+method, func(t *testing.T) {
				up := script(t, answer+"CLOSE", ok)
				g := start(t, single(up.url, "retries: 0"))
				res, err := g.client.Do(request(t, method, g.url+"/", ""))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				if err == nil {
					t.Error("it looks whole")
				}
				if res, text := g.do(request(t, method, g.url+"/", "")); res.StatusCode != 200 || text != "ok" {
					t.Errorf("the next: %s %q", res.Status, text)
				}
			})
		}
	}
}

// reset is a server that reads a request, says something, and resets the connection; the
// second request and all after it over a connection, if it answers the first.
func reset(t *testing.T, first, says string) (url string, asked *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = new(atomic.Int64)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reader := bufio.NewReader(c)
			for n := 0; ; n++ {
				if _, err := http.ReadRequest(reader); err != nil {
					break
				}
				if asked.Add(1); n > 0 || first == "" {
					_, _ = io.WriteString(c, says)
					_ = c.(*net.TCPConn).SetLinger(0)
					break
				}
				_, _ = io.WriteString(c, first)
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-over })
	return "http://" + l.Addr().String(), asked
}

// Once something of an answer has come, a request is not sent again.
func TestNoRetryAfterTheFirstByte(t *testing.T) {
	for _, method := range []string{"GET", "OPTIONS"} {
		bad, asked := reset(t, "", "HTTP/1.1 200 OK\r\nX-Ha")
		var again atomic.Int64
		good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { again.Add(1) }))
		defer good.Close()
		g := start(t, fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q, %q]}]}", good.URL, bad))
		res, _ := g.do(request(t, method, g.url+"/", ""))
		// The reset may overtake what was said before it; then nothing has come.
		if garbled := g.count("sluice_gateway_upstream_failures_total", "garbled"); garbled != 1-float64(again.Load()) || (res.StatusCode == 502) != (garbled == 1) {
			t.Errorf("%s: %s, garbled %v, asked %d, and again %d", method, res.Status, garbled, asked.Load(), again.Load())
		}
	}
}

// A server that closes every connection with the second request over it gets that request
// once more, and not again.
func TestSentTwiceAtMost(t *testing.T) {
	up, asked := reset(t, "", "")
	g := start(t, single(up, "retries: 0"))
	if res, _ := g.get("/"); res.StatusCode != 502 || asked.Load() != 1 {
		t.Errorf("over a fresh connection: %s, asked %d times", res.Status, asked.Load())
	}
	up, asked = reset(t, ok, "")
	g = start(t, single(up, "retries: 0"))
	for range 5 {
		if res, text := g.get("/"); res.StatusCode != 200 || text != "ok" {
			t.Errorf("%s %q", res.Status, text)
		}
	}
	if n := asked.Load(); n > 2*5 {
		t.Errorf("asked %d times", n)
	}
}

// A connection whose answer was not read to its end is not used again.
func TestHalfReadAnswersAreNotTaken(t *testing.T) {
	up := script(t, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("evil", 1000), ok)
	g := start(t, single(up.url))
	res, err := g.client.Do(request(t, "GET", g.url+"/", ""))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(res.Body, make([]byte, 4))
	_ = res.Body.Close()
	if res, text := g.get("/"); res.StatusCode != 200 || text != "ok" {
		t.Errorf("%s %q", res.Status, text)
	}
}

// What may not come after a body does not reach a server, announced or not.
func TestForbiddenTrailers(t *testing.T) {
	up := mirror(t)
	g := start(t, fmt.Sprintf("gateway: {trusted: [127.0.0.1], user_header: X-User, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	const after = "X-Sum: 42\r\nHost: evil\r\nAuthorization: evil\r\nX-Forwarded-For: 1.2.3.4\r\nX_Forwarded_Proto: evil\r\nX-User: evil\r\nX-Hop: evil\r\nKeep-Alive: evil\r\nIf-Match: evil\r\n" +
		"Transfer-Encoding: evil\r\nContent-Length: 5\r\nX-Unannounced: evil\r\n"
	answer := g.raw("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close, X-Hop\r\n" +
		"Trailer: X-Sum, Host, Authorization, X-Forwarded-For, X_Forwarded_Proto, X-User, X-Hop, Keep-Alive, If-Match\r\n\r\n2\r\nok\r\n0\r\n" + after + "\r\n")
	_, seen, _ := strings.Cut(answer, `"Trailer":`)
	if !strings.HasPrefix(seen, `{"X-Sum":["42"]}`) {
		t.Errorf("%s", answer)
	}
}
