package app

import (
	"crypto/tls"
	"net"
	"net/http"
)

// net/http answers or cuts by itself what it cannot read: something that is no HTTP, a
// header that is too large or too slow. No handler sees these requests, but the server
// tells when a connection begins to read one and when it ends: if nobody has seen a
// request in between, it was broken. It does not tell of one after another that comes as a
// whole and cannot be read: of these we see the first byte, if it does not come over TLS.

// watchConn is an http.Server's ConnState.
func (a *App) watchConn(given net.Conn, state http.ConnState) {
	c := connOf(given)
	if c == nil {
		return
	}
	switch state {
	case http.StateActive:
		c.unseen.Store(true)
	case http.StateIdle:
		c.idle.Store(given == net.Conn(c))
	case http.StateClosed:
		if c.unseen.Load() && !a.stopping.Load() {
			a.metrics.Broken()
		}
	}
}

// see takes note that a request has come to a handler.
func see(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.unseen.Store(false)
	}
}

// connOf returns our part of a connection, nil if it has none.
func connOf(given net.Conn) *conn {
	if t, ok := given.(*tls.Conn); ok {
		given = t.NetConn()
	}
	c, _ := given.(*conn)
	return c
}
