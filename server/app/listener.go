package app

import (
	"net"
	"sync"
	"sync/atomic"
)

// limitListener accepts at most n connections at a time; more wait in the queue of the
// system, where they cost this process nothing.
func limitListener(l net.Listener, n int) *limited {
	return &limited{Listener: l, places: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	places chan struct{}
	open   atomic.Int64 // connections; a place is taken before there is one
	closed chan struct{}
	once   sync.Once
}

// Accept waits for a place, then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	l.open.Add(1)
	return &place{Conn: c, leave: func() {
		l.open.Add(-1)
		<-l.places
	}}, nil
}

// Close ends Accept, wherever it waits.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// place is a connection that has a place.
type place struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close gives the place back.
func (p *place) Close() error {
	defer p.once.Do(p.leave)
	return p.Conn.Close()
}
