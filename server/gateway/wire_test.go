package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// What a server says on a connection that nobody uses, such as 408 before it closes it,
// is no answer to the next request.
func TestUnaskedAnswersAreNotTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := start(t, single("http://"+l.Addr().String()))
	answer := func() net.Conn {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return nil
		}
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(c, ok)
		return c
	}
	for range 3 {
		conns := make(chan net.Conn, 1)
		go func() { conns <- answer() }()
		if res, text := g.get("/"); res.StatusCode != 200 || text != "ok" {
			t.Errorf("%s %q", res.Status, text)
		}
		c := <-conns
		_, _ = io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
		defer c.Close()
	}
}

// A client that leaves in the middle of a silent stream is noticed behind the gateway.
func TestClientLeavesAStream(t *testing.T) {
	left := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	for _, method := range []string{"GET", "POST"} {
		res, err := g.client.Do(request(t, method, g.url+"/", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		select {
		case <-left:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the upstream does not notice", method)
		}
	}
}
