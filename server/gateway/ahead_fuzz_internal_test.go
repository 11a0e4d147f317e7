package gateway

import (
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// once is a listener with one connection.
type once struct {
	conns chan net.Conn
	spoken
}

func (o *once) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (o *once) Addr() net.Addr { return o.RemoteAddr() }
func (o *once) Close() error   { return nil }

// handlerGets returns the requests that the server of the standard library makes of a text.
func handlerGets(t testing.TB, text string) (got []*http.Request) {
	s := &http.Server{DisableGeneralOptionsHandler: true}
	s.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		got = append(got, r)
	})
	closed := make(chan struct{})
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	l := &once{conns: make(chan net.Conn, 1)}
	client, server := net.Pipe()
	l.conns <- server
	close(l.conns)
	_ = s.Serve(l)
	go func() { _, _ = io.Copy(io.Discard, client) }()
	_, _ = io.WriteString(client, text)
	_ = client.Close()
	<-closed
	return got
}

// Whatever is answered ahead of the server is one request to it too, and the same.
func FuzzAheadReadsAsTheServer(f *testing.F) {
	for _, text := range []string{
		asks, "HEAD / HTTP/1.1\r\nHost: [::1]:80\r\nAccept: a\r\nAccept: b\r\n c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
		"GET http://x/ HTTP/1.1\r\n\r\n",
		"GET http://x/ HTTP/1.1\r\nHost: y\r\n\r\n",
		"GET //x/ HTTP/1.1\r\nHost: y\r\n\r\n",
		"GET / HTTP/2.0\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.9\r\nHost: x\r\n\r\n",
		"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: \x01\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
		"GET / HTTP/1.1\nHost: x\n\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nPragma: no-cache\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > serverBuffer {
			return
		}
		a := answers.Get().(*ownAnswer)
		defer a.free()
		r := a.read([]byte(text))
		if r == nil {
			return
		}
		got := handlerGets(t, strings.Clone(text))
		if len(got) != 1 {
			t.Fatalf("%q: %d requests", text, len(got))
		}
		if s := got[0]; s.Method != r.Method || s.Host != r.Host || *s.URL != *r.URL || !reflect.DeepEqual(s.Header, r.Header) || s.ContentLength != 0 || s.Close {
			t.Errorf("%q: the server has\n%+v, we have\n%+v", text, s, r)
		}
	})
}
