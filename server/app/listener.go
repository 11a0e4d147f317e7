package app

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// limited is a listener with so many places for connections. Who comes when all are
// taken gets the place of the oldest connection that has not shown yet that it may ask:
// one that sends nothing, or slowly, or has no token. If there is none, it waits, and
// all after it in the queue of the system, where they cost this process nothing.
type limited struct {
	net.Listener
	places  int
	dropped atomic.Int64  // connections that had to give way
	left    chan struct{} // says that a place may be free
	closed  chan struct{}
	once    sync.Once

	mu        sync.Mutex // guards all below, and the elements of the connections
	taken     int
	strangers list.List // of *conn that have not shown that they may ask, oldest first
}

func limitListener(l net.Listener, places int) *limited {
	return &limited{Listener: l, places: places, left: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for a connection, then for a place. Nobody else may call it meanwhile.
func (l *limited) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		if c := l.enter(accepted); c != nil {
			return c, nil
		}
		if l.drop() {
			continue
		}
		select {
		case <-l.left:
		case <-l.closed:
			_ = accepted.Close()
			return nil, net.ErrClosed
		}
	}
}

// enter gives a connection a place, nil if there is none.
func (l *limited) enter(accepted net.Conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken == l.places {
		return nil
	}
	l.taken++
	c := newConn(accepted, l, now())
	c.stranger = l.strangers.PushBack(c)
	return c
}

// drop closes the oldest stranger, and reports whether there was one.
func (l *limited) drop() bool {
	l.mu.Lock()
	oldest := l.strangers.Front()
	l.mu.Unlock()
	if oldest == nil {
		return false
	}
	l.dropped.Add(1)
	_ = oldest.Value.(*conn).Close()
	return true
}

// open returns how many connections there are.
func (l *limited) open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.taken)
}

// Close ends Accept, wherever it waits.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// connKey is where the context of a request has its *conn.
type connKey struct{}

// withConn is what an http.Server needs for keep.
func withConn(ctx context.Context, given net.Conn) context.Context {
	if c := connOf(given); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// keepConn keeps the connection of a request that may ask.
func keepConn(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok && !c.known.Load() {
		c.keep()
	}
}
