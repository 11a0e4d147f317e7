package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stuck is a client that takes nothing until it is told to.
type stuck struct {
	http.ResponseWriter
	writing, goOn chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	close(s.writing)
	<-s.goOn
	return s.ResponseWriter.Write(p)
}

// A client that has its last part to take yet has nothing to do with the connection that
// the part came over: the end of its exchange is not that of the next one's answer.
func TestSlowClientDoesNotCutOffTheNext(t *testing.T) {
	rest := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			w.Header().Set("Content-Length", "2")
			fmt.Fprint(w, "ok")
			return
		}
		fmt.Fprint(w, "first ")
		_ = http.NewResponseController(w).Flush()
		<-rest
		fmt.Fprint(w, "second")
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	s := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var slow sync.WaitGroup
	slow.Go(func() { g.ServeHTTP(s, httptest.NewRequest("GET", "/slow", nil)) })
	<-s.writing
	res, err := g.client.Do(request(t, "GET", g.url+"/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	close(s.goOn)
	slow.Wait()
	close(rest)
	if text, err := io.ReadAll(res.Body); string(text) != "second" || err != nil {
		t.Errorf("the rest is %q, %v", text, err)
	}
}

// deadlines tells of a deadline that is set when the exchange is over: the writer of
// HTTP/2 panics then.
type deadlines struct {
	http.ResponseWriter
	over, late atomic.Bool
}

func (d *deadlines) SetReadDeadline(time.Time) error {
	if d.over.Load() {
		d.late.Store(true)
	}
	return nil
}

// late is a body whose last part comes when the exchange is over.
type late struct {
	reads int
	over  chan struct{}
}

func (l *late) Read(p []byte) (int, error) {
	if l.reads++; l.reads <= 8 { // more than anybody keeps for later
		return len(p), nil
	}
	<-l.over
	return 1, nil
}

func (l *late) Close() error { return nil }

// A body that is still on its way when the answer has ended leaves the writer alone.
func TestLateBodyLeavesTheWriterAlone(t *testing.T) {
	up := script(t, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
	g := start(t, single(up.url))
	body := &late{over: make(chan struct{})}
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "/", body)
	r.ContentLength, r.ProtoMajor = 1<<20, 2
	g.ServeHTTP(w, r)
	w.over.Store(true)
	close(body.over)
	eventually(t, "the body is not read any more", func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*exchange).Read")
	})
	if w.late.Load() {
		t.Error("the writer was used after its time")
	}
}

// two sends a request over HTTP/2 as it is, without the checks of a client.
func (r *running) two(fields ...string) {
	r.t.Helper()
	var block []byte
	for i := 0; i < len(fields); i += 2 { // literals without an index
		block = append(block, 0, byte(len(fields[i])))
		block = append(block, fields[i]...)
		block = append(block, byte(len(fields[i+1])))
		block = append(block, fields[i+1]...)
	}
	c := r.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" +
		string([]byte{0, 0, byte(len(block)), 1, 5, 0, 0, 0, 1}) + string(block))
	for { // until the stream has ended
		var head [9]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			r.t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			r.t.Fatal(err)
		}
		if head[8] == 1 && (head[3] == 3 || head[3] <= 1 && head[4]&1 != 0) {
			return
		}
	}
}

// HTTP/2 admits in a request what ends or doubles something in one of HTTP/1.
func TestHTTP2DoesNotSmuggle(t *testing.T) {
	for name, c := range map[string]struct {
		path, authority string
		more            []string
		passes          bool
	}{
		"plain":              {path: "/a?b=c", authority: "good", passes: true},
		"another host":       {path: "/", authority: "good", more: []string{"host", "evil"}, passes: true},
		"a space in a query": {path: "/?a HTTP/1.0", authority: "good"},
		"a space in a host":  {path: "/", authority: "good evil"},
		"a path in a host":   {path: "/", authority: "good/evil"},
	} {
		t.Run(name, func(t *testing.T) {
			up := script(t, ok)
			g := start(t, single(up.url))
			g.two(append([]string{":method", "GET", ":scheme", "http", ":path", c.path, ":authority", c.authority}, c.more...)...)
			heads := strings.Join(up.heads(), "")
			switch {
			case !c.passes && heads != "":
				t.Errorf("it was sent on: %q", heads)
			case c.passes && (!strings.HasPrefix(heads, "GET "+c.path+" HTTP/1.1\r\nHost: good\r\n") || strings.Contains(heads, "evil")):
				t.Errorf("sent on: %q", heads)
			}
		})
	}
}

// What no server may say gets a problem for an answer, and the rest of what one says
// comes through as it is.
func TestOddAnswers(t *testing.T) {
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: X-Hop\r\nX-Hop: a\r\n\r\n" + ok
	for name, c := range map[string]struct {
		answer, version, want string
		without               []string
	}{
		"status 020":          {"HTTP/1.1 020 Odd\r\nContent-Length: 0\r\n\r\n", "1.1", "HTTP/1.1 502 ", nil},
		"status +20":          {"HTTP/1.1 +20 Odd\r\nContent-Length: 0\r\n\r\n", "1.1", "HTTP/1.1 502 ", nil},
		"early":               {hints, "1.1", "HTTP/1.1 103 Early Hints\r\n", []string{"X-Hop"}},
		"early and HTTP/1.0":  {hints, "1.0", "HTTP/1.0 200 OK\r\n", []string{"103"}},
		"204 with a length":   {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "1.1", "HTTP/1.1 204 ", []string{"Content-Length"}},
		"no type":             {"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n<html>text</html", "1.1", "HTTP/1.1 200 ", []string{"Content-Type"}},
		"more than announced": {ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "1.1", "HTTP/1.1 200 ", []string{"evil"}},
	} {
		for _, method := range []string{"GET", "OPTIONS"} { // both ways to a server
			t.Run(name+" "+method, func(t *testing.T) {
				up := script(t, c.answer)
				g := start(t, single(up.url, "retries: 0"))
				got := g.raw(method + " / HTTP/" + c.version + "\r\nHost: a\r\nConnection: close\r\n\r\n")
				if !strings.HasPrefix(got, c.want) {
					t.Errorf("%q", got)
				}
				for _, text := range c.without {
					if strings.Contains(got, text) {
						t.Errorf("%q is in %q", text, got)
					}
				}
			})
		}
	}
}

// Who is not trusted names no user to the servers, however it is spelt, and whether the
// rules look at the request or not.
func TestNobodyElseNamesUsers(t *testing.T) {
	up := script(t, ok, ok)
	g := start(t, fmt.Sprintf("gateway: {trusted: [10.0.0.1], user_header: x-auth-user, upstreams: [{name: app, servers: [%q]}]}", up.url))
	const preflight = "Access-Control-Request-Method: PUT\r\nOrigin: http://a\r\n"
	for method, more := range map[string]string{"GET": "", "OPTIONS": preflight} {
		g.raw(method + " / HTTP/1.1\r\nHost: a\r\nX-Auth-User: eve\r\nX_Auth-User: eve\r\n" + more + "Connection: close\r\n\r\n")
	}
	if heads := up.heads(); len(heads) != 2 || strings.Contains(strings.Join(heads, ""), "eve") {
		t.Errorf("%q", heads)
	}
}

// With a body the protocol cannot be changed: two would read from the same connection.
func TestNoUpgradeWithABody(t *testing.T) {
	up := script(t, ok)
	g := start(t, single(up.url))
	got := g.raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: lines\r\nContent-Length: 1\r\n\r\nx")
	if heads := up.heads(); len(heads) != 1 || strings.Contains(heads[0], "Upgrade") {
		t.Errorf("%q %q", heads, got)
	}
}

// A server that takes nothing ends a tunnel, as one does over which nothing moves.
func TestTunnelWhoseServerTakesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	over := make(chan struct{})
	defer close(over)
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
			<-over
			_ = c.Close()
		}
	}()
	g := start(t, single("http://"+l.Addr().String(), "timeouts: {idle: 200ms}"))
	c := g.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
	for part := make([]byte, 1<<20); err == nil; {
		_, err = c.Write(part)
	}
	if slow := net.Error(nil); errors.As(err, &slow) && slow.Timeout() {
		t.Error("it stays open")
	}
}

// A short time to write is one per part, not for all until the answer comes.
func TestShortTimeToWrite(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(400 * time.Millisecond) // what is tried is that this does not matter
		fmt.Fprint(w, "ok")
	}))
	defer up.Close()
	g := start(t, fmt.Sprintf("gateway: {timeouts: {write: 200ms}, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	if res, text := g.get("/"); res.StatusCode != 200 || text != "ok" {
		t.Errorf("%s %q", res.Status, text)
	}
}
