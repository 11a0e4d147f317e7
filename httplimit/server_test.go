package httplimit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// guards are all ways in which a request can be passed on.
func guards(t *testing.T) map[string]func(http.Handler) http.Handler {
	settled := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits("1000000/s"), Cost: rule.Cost{Response: "X-Cost"}}}})
	return map[string]func(http.Handler) http.Handler{
		"ByIP":    httplimit.ByIP(sluice.PerSecond(1e6)),
		"waiting": httplimit.ByIP(sluice.PerSecond(1e6), httplimit.Wait(time.Second)),
		"settled": httplimit.Rules(settled),
	}
}

// TestWriterIsPassedOn: the handler gets the very writer of the server, and with it all
// that the server can do, over HTTP/1.1 and HTTP/2.
func TestWriterIsPassedOn(t *testing.T) {
	for name, guard := range guards(t) {
		for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
			problem := make(chan error, 1)
			var outer http.ResponseWriter
			inner := guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				var err error
				if w != outer {
					err = errors.New("another writer")
				}
				if _, ok := w.(io.ReaderFrom); !ok && proto == "HTTP/1.1" {
					err = errors.Join(err, errors.New("no ReaderFrom"))
				}
				if _, ok := w.(http.Hijacker); !ok && proto == "HTTP/1.1" {
					err = errors.Join(err, errors.New("no Hijacker"))
				}
				if _, ok := w.(http.Flusher); !ok {
					err = errors.Join(err, errors.New("no Flusher"))
				}
				control := http.NewResponseController(w)
				_, _ = io.Copy(w, strings.NewReader("one "))
				problem <- errors.Join(err, control.SetWriteDeadline(time.Time{}), control.EnableFullDuplex(), control.Flush())
				_, _ = io.WriteString(w, "two")
			}))
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				outer = w
				inner.ServeHTTP(w, r)
			}))
			if srv.EnableHTTP2 = proto == "HTTP/2.0"; srv.EnableHTTP2 {
				srv.StartTLS()
			} else {
				srv.Start()
			}
			res, err := srv.Client().Get(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			if got := body(t, res); got != "one two" || res.Proto != proto || res.Header.Get("RateLimit") == "" {
				t.Errorf("%s %s: %q %v", name, res.Proto, got, res.Header)
			}
			if err := <-problem; err != nil {
				t.Errorf("%s %s: %v", name, proto, err)
			}
			srv.Close()
		}
	}
}

// TestHijack: a connection can be taken over, as a WebSocket does.
func TestHijack(t *testing.T) {
	for name, guard := range guards(t) {
		srv := httptest.NewServer(guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			_ = rw.Flush()
			line, _ := rw.ReadString('\n')
			_, _ = rw.WriteString("echo " + line)
			_ = rw.Flush()
		})))
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n")
		text, err := io.ReadAll(bufio.NewReader(conn))
		if err != nil || !strings.HasSuffix(string(text), "echo hello\n") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		_ = conn.Close()
		srv.Close()
	}
}

// HTTP/2 rapid reset (CVE-2023-44487): a stream that the client resets is counted when
// it begins and never given back.
func TestResetStreamsAreCounted(t *testing.T) {
	keyed := sluice.NewKeyed(sluice.PerHour(100))
	arrived := make(chan struct{})
	srv := httptest.NewUnstartedServer(httplimit.Middleware(keyed)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if res, err := srv.Client().Do(r); err == nil {
				_ = res.Body.Close()
			}
		}()
		<-arrived
		cancel()
		<-done
	}
	d, err := keyed.Peek(t.Context(), "127.0.0.1")
	if err != nil || d.Remaining() != 90 {
		t.Errorf("%d left, want 90 (%v)", d.Remaining(), err)
	}
}

// TestUnixServer: behind a real Unix socket the proxy's header tells the client.
func TestUnixServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	address := httplimit.ClientAddress(httplimit.UnixSocket())
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, address(r).String())
	})}
	go func() { _ = srv.Serve(listener) }()
	defer func() { _ = srv.Close() }()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(xff, "6.6.6.6, 203.0.113.7")
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, res); got != "203.0.113.7" {
		t.Error(got)
	}
}
