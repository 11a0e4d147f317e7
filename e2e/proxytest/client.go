package proxytest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Reply is an answer with its body.
type Reply struct {
	*http.Response
	Text string
}

// Client sends requests from an address of its own.
type Client struct {
	t    testing.TB
	addr string // of the proxy
	http *http.Client
	dial net.Dialer
}

// NewClient returns a client at the address ip, of 127.0.0.0/8, of the proxy at addr.
func NewClient(t testing.TB, addr, ip string) *Client {
	c := &Client{t: t, addr: addr, dial: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: patience}}
	transport := &http.Transport{DialContext: c.dial.DialContext, DisableCompression: true}
	c.http = &http.Client{Transport: transport, Timeout: patience}
	t.Cleanup(transport.CloseIdleConnections)
	return c
}

// Do sends a request with header fields, given as names and values in turn.
func (c *Client) Do(method, target, body string, header ...string) Reply {
	c.t.Helper()
	r, err := http.NewRequest(method, "http://"+c.addr+target, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.read(res)
}

// Raw sends a request line as it is, and header lines. The status is 0 if the proxy does
// not answer, as some do when they do not want to read to the end.
func (c *Client) Raw(line string, header ...string) Reply {
	c.t.Helper()
	conn := c.Connect()
	defer conn.Close()
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\nContent-Length: 0\r\n%s\r\n\r\n",
		line, strings.Join(append([]string{"X-First: 1"}, header...), "\r\n"))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return Reply{Response: &http.Response{}}
	}
	return c.read(res)
}

// Addr returns the address of the proxy.
func (c *Client) Addr() string { return c.addr }

// Connect opens a connection.
func (c *Client) Connect() net.Conn {
	c.t.Helper()
	conn, err := c.dial.Dial("tcp", c.addr)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

func (c *Client) read(res *http.Response) Reply {
	c.t.Helper()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return Reply{res, string(text)}
}
