package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func reader(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return
		}
		fmt.Fprint(w, n)
	}))
	t.Cleanup(s.Close)
	return s
}

func impatient(upstream string) string {
	return fmt.Sprintf("gateway: {timeouts: {header: 100ms, body: 150ms}, limits: {min_rate: 1KiB}, upstreams: [{name: app, servers: [%q]}]}", upstream)
}

// dribble sends a head and then a byte again and again, until it is cut; it returns what
// the gateway said.
func (r *running) dribble(head string) string {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(c)
		said <- string(text)
	}()
	_, _ = io.WriteString(c, head)
	for {
		select {
		case text := <-said:
			return text
		case <-time.After(5 * time.Millisecond):
			_, _ = c.Write([]byte("x"))
		}
	}
}

func TestSlowClientsAreCut(t *testing.T) {
	g := start(t, impatient(reader(t).URL)+"\nrules: [{name: no, match: {paths: [/no]}, limits: [0/s]}]\n")
	for head, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ":                          "",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n":   "HTTP/1.1 408",
		"POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n": "HTTP/1.1 4",
	} {
		if text := g.dribble(head); !strings.HasPrefix(text, want) {
			t.Errorf("%q: %q", head, text)
		}
	}
	if n := g.count("sluice_gateway_upstream_failures_total"); n != 0 {
		t.Errorf("%v failures are put down to the server", n)
	}
}

// Who sends steadily may take longer than the time for a body, and may wait long for the
// answer after it.
func TestSteadyClientsAreNotCut(t *testing.T) {
	release := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		<-release
		fmt.Fprint(w, n)
	}))
	defer up.Close()
	g := start(t, impatient(up.URL))
	from, to := io.Pipe()
	go func() {
		for range 40 {
			_, _ = to.Write(make([]byte, 64<<10))
			time.Sleep(10 * time.Millisecond)
		}
		_ = to.Close()
		time.Sleep(400 * time.Millisecond)
		close(release)
	}()
	r := request(t, "POST", g.url+"/", "")
	r.Body, r.ContentLength = from, -1
	if res, text := g.do(r); res.StatusCode != 200 || text != fmt.Sprint(40*64<<10) {
		t.Errorf("%s %s", res.Status, text)
	}
}

// An answer may take longer than the time for a part of it, as long as the client takes
// what there is; one that takes nothing is cut.
func TestSlowReaders(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := make([]byte, 64<<10)
		for i := 0; ; i++ {
			if r.URL.Path == "/finite" && i == 8 {
				return
			}
			if _, err := w.Write(part); err != nil {
				return
			}
			if r.URL.Path == "/finite" {
				_ = http.NewResponseController(w).Flush()
				time.Sleep(200 * time.Millisecond)
			}
		}
	}))
	defer up.Close()
	g := start(t, fmt.Sprintf("gateway: {timeouts: {write: 1100ms}, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	if res, text := g.get("/finite"); res.StatusCode != 200 || len(text) != 8*64<<10 {
		t.Errorf("%s, %d bytes", res.Status, len(text))
	}
	c, err := net.Dial("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "it has begun", func() bool { return g.count("sluice_gateway_upstream_in_flight") == 1 })
	eventually(t, "it is cut", func() bool { return g.count("sluice_gateway_upstream_in_flight") == 0 })
}

// An answer before the answer may come later than the client has time to take a part of
// one: that time begins when there is something to take.
func TestLateEarlyAnswers(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(300 * time.Millisecond)
		w.WriteHeader(http.StatusProcessing)
		_, _ = io.WriteString(w, "ok")
	}))
	defer up.Close()
	g := start(t, "gateway: {timeouts: {write: 200ms}, upstreams: [{name: app, servers: [\""+up.URL+"\"]}]}")
	for _, head := range []string{"GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 0\r\n"} {
		text := g.raw(head + "Host: x\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(text, "HTTP/1.1 102 Processing\r\n") || !strings.HasSuffix(text, "\r\n\r\nok") {
			t.Errorf("%q: %q", head, text)
		}
	}
}

// A body that is there in time is not late because its request had to wait for us.
func TestBodyOfOneThatWaits(t *testing.T) {
	g := start(t, impatient(reader(t).URL)+"\nrules: [{name: all, limits: [3/s burst=1], wait: 5s}]\n")
	for range 2 { // the second waits for a third of a second
		k := g.keep()
		_, _ = io.WriteString(k, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
		time.Sleep(time.Millisecond) // else the server would have read it with the header
		if res, body := k.ask("hello"); res.StatusCode != 200 || body != "5" {
			t.Errorf("%s %s", res.Status, body)
		}
		_ = k.Close()
	}
	h2 := &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}}
	h2.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
	defer h2.CloseIdleConnections()
	res, err := h2.Post(g.url, "", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Errorf("%s, %s", res.Status, res.Proto)
	}
}
