package api

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/server/audit"
)

// serve runs a server over connections in memory, so that a bubble's time counts. The
// answer of GET /v1/events comes back as a connection to read from.
func streamOf(t *testing.T, h http.Handler) (net.Conn, func()) {
	t.Helper()
	ours, theirs := net.Pipe()
	listener := &oneConn{conn: theirs, done: make(chan struct{})}
	server := NewServer(h)
	go func() { _ = server.Serve(listener) }()
	if _, err := io.WriteString(ours, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ours, func() {
		ours.Close()
		server.Close()
		synctest.Wait()
	}
}

// oneConn is a listener that has one connection.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}
func (l *oneConn) Close() error   { close(l.done); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// until reads lines to one that contains a text.
func until(t *testing.T, lines *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

func TestEvents(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		conn, stop := streamOf(t, New(f, Options{Heartbeat: time.Minute}))
		defer stop()
		lines := bufio.NewReader(conn)
		until(t, lines, "text/event-stream")
		until(t, lines, "retry: ")
		synctest.Wait()
		go f.add(audit.Entry{Time: start, Source: "api", Action: "reload", Lines: []string{"a → b"}})
		until(t, lines, "event: change")
		if line := until(t, lines, "data: "); !strings.Contains(line, `"lines":["a → b"]`) {
			t.Error(line)
		}
		began := time.Now()
		until(t, lines, ": still here")
		if waited := time.Since(began); waited > time.Minute {
			t.Errorf("a sign of life after %v", waited)
		}
		for range 10 { // longer than the server lets other answers take
			until(t, lines, ": still here")
		}
	})
	if n := f.subscribers(); n != 0 {
		t.Errorf("%d subscribers left", n)
	}
}

// TestSlowReader: who does not read is cut.
func TestSlowReader(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		_, stop := streamOf(t, New(f, Options{})) // a pipe holds nothing, so that the first write blocks
		defer stop()
		synctest.Wait()
		if n := f.subscribers(); n != 1 {
			t.Fatalf("%d subscribers", n)
		}
		time.Sleep(patience - time.Second)
		synctest.Wait()
		if n := f.subscribers(); n != 1 {
			t.Fatal("cut too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := f.subscribers(); n != 0 {
			t.Fatal("not cut")
		}
	})
}

// TestEventsEnd: the stream ends with the subscription, its client, and the handler.
func TestEventsEnd(t *testing.T) {
	for name, end := range map[string]func(f *fake, leave, done func()){
		"subscription": func(f *fake, _, _ func()) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for reader := range f.readers {
				close(reader)
			}
		},
		"client":  func(_ *fake, leave, _ func()) { leave() },
		"handler": func(_ *fake, _, done func()) { done() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, sample, nil)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/v1/events", http.NoBody)
				done := make(chan struct{})
				go New(f, Options{Done: done}).ServeHTTP(w, r)
				synctest.Wait()
				if n := f.subscribers(); n != 1 {
					t.Fatalf("%d subscribers", n)
				}
				end(f, cancel, func() { close(done) })
				synctest.Wait()
				if n := f.subscribers(); n != 0 {
					t.Errorf("%d subscribers left", n)
				}
				if !bytes.Contains(w.Body.Bytes(), []byte(retry)) {
					t.Errorf("answer %q", w.Body)
				}
			})
		})
	}
}

func TestManyStreams(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := New(f, Options{MaxStreams: 2})
		for range 2 {
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "http://localhost/v1/events", http.NoBody))
		}
		synctest.Wait()
		wantProblem(t, ask(h, "GET", "/v1/events", ""), http.StatusServiceUnavailable, "too-many-streams", "audit")
		cancel()
		synctest.Wait()
		if w := ask(h, "HEAD", "/v1/events", ""); w.Code != http.StatusOK {
			t.Errorf("status %d after they have left", w.Code)
		}
	})
}
