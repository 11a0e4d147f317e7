package gateway

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// conn is the connection of a client. It counts what the server rejects before a handler
// hears of it, and answers those whom the rules refuse again and again ahead of the server.
// Its fields belong to the goroutine that serves the connection, which is also the one that
// calls handlers of HTTP/1.
type conn struct {
	net.Conn
	gateway *Gateway
	address string      // as requests have it, when it was first needed
	begun   atomic.Bool // something came that no handler has heard of yet
	blind   bool        // TLS or HTTP/2: what goes over it is nothing that we could read
	serving bool        // from the call of a handler until its answer is sent

	most   int       // that the server has asked for in one Read; zero before the first
	denied bool      // so was the last request
	until  time.Time // for how long we answer without the server
	armed  bool      // a client that takes nothing does not hold us for ever
	passed *exchange // that the rules have let pass, and the server is about to read
}

// listener makes every connection one of ours.
type listener struct {
	net.Listener
	gateway *Gateway
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, gateway: l.gateway, blind: l.gateway.options.TLS != nil}, nil
}

// connKey is where the context of a request has its *conn.
type connKey struct{}

// withConn is ConnContext of the server.
func (g *Gateway) withConn(ctx context.Context, given net.Conn) context.Context {
	c := ownConn(given)
	if c == nil {
		return ctx
	}
	if g.options.ConnContext != nil {
		ctx = g.options.ConnContext(ctx, c.Conn)
	}
	return context.WithValue(ctx, connKey{}, c)
}

func ownConn(given net.Conn) *conn {
	if t, ok := given.(*tls.Conn); ok {
		given = t.NetConn()
	}
	c, _ := given.(*conn)
	return c
}

// connOf returns the connection of a request; nil if another server has called us.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// preface begins a connection of HTTP/2 without TLS.
const preface = "PRI * HTTP/2.0"

// serverBuffer is how much the server asks for when it has nothing. Should it ever ask for
// more, nothing is answered ahead of it.
const serverBuffer = 4 << 10

// Read gives the server what the client sends, except for requests that are answered here.
func (c *conn) Read(p []byte) (int, error) {
	// A single byte is asked for by another goroutine, to find out whether the client is
	// still there while a handler is at work.
	if len(p) == 1 || c.blind || c.serving {
		return c.Conn.Read(p)
	}
	first := c.most == 0
	c.most = max(c.most, len(p))
	// If its buffer is not empty, it has a part of the next request already.
	ahead := c.denied && len(p) == serverBuffer && c.most == serverBuffer
	c.denied = false
	for {
		n, err := c.Conn.Read(p)
		if first && n > 0 {
			c.blind = strings.HasPrefix(preface, string(p[:min(n, len(preface))]))
		}
		if !ahead || err != nil {
			if n > 0 && !c.blind {
				c.begun.Store(true)
			}
			return n, err
		}
		refused, err := c.refuse(p[:n])
		if err != nil {
			return 0, err
		}
		if !refused {
			c.begun.Store(true)
			return n, nil
		}
	}
}

// Write sends what the server writes. Between two requests that can only be its own answer
// to one that it does not give to a handler.
func (c *conn) Write(p []byte) (int, error) {
	if !c.blind && !c.serving && len(p) > len("HTTP/1.1 4") {
		c.begun.Store(false)
		c.gateway.options.Metrics.rejected(int(p[len("HTTP/1.1 ")]-'0') * 100)
	}
	return c.Conn.Write(p)
}

// CloseWrite is what the server calls so that its last answer can be read.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// handled says that a handler has been called. For HTTP/1 it returns the exchange that has
// been begun ahead of the server, or nil.
func (c *conn) handled(r *http.Request) (x *exchange) {
	c.begun.Store(false)
	if r.ProtoMajor != 1 {
		return nil // it has many at the same time
	}
	c.serving, c.denied = true, false
	x, c.passed = c.passed, nil
	return x
}

// changed is ConnState of the server.
func (g *Gateway) changed(given net.Conn, state http.ConnState) {
	c := ownConn(given)
	if c == nil {
		return
	}
	switch state {
	case http.StateActive:
		if c.blind {
			c.begun.Store(true)
		}
	case http.StateIdle:
		c.serving = false
		if c.blind {
			c.begun.Store(false)
		}
	case http.StateClosed:
		if c.begun.Load() { // its time was over, or the client has left
			g.options.Metrics.rejected(0)
		}
	}
}
