package app

import (
	"container/list"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a connection that has a place.
type conn struct {
	net.Conn
	listener *limited
	known    atomic.Bool // it may ask
	stranger *list.Element
	once     sync.Once
	unseen   atomic.Bool // it has begun to send a request that no handler has seen
	idle     atomic.Bool // the next that comes begins a request

	reading, writing deadline
}

func newConn(accepted net.Conn, l *limited, began time.Time) *conn {
	c := &conn{Conn: accepted, listener: l}
	c.reading.init(began, accepted.SetReadDeadline)
	c.writing.init(began, accepted.SetWriteDeadline)
	return c
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error { return c.reading.set(t) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writing.set(t) }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.set(t), c.writing.set(t))
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	for {
		if err := c.reading.enter(); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 && c.idle.Load() {
			c.idle.Store(false)
			c.unseen.Store(true)
		}
		if again := c.reading.leave(err); !again {
			return n, err
		}
	}
}

// Write implements [net.Conn].
func (c *conn) Write(p []byte) (written int, err error) {
	for {
		if err := c.writing.enter(); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:])
		written += n
		if again := c.writing.leave(err); !again {
			return written, err
		}
	}
}

// CloseWrite ends what is sent. net/http does so before it leaves a client that still
// sends, which could not read the answer otherwise.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close gives the place back.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		l := c.listener
		l.mu.Lock()
		l.strangers.Remove(c.stranger)
		l.taken--
		l.mu.Unlock()
		select {
		case l.left <- struct{}{}:
		default: // it has been said
		}
	})
	return err
}

// keep says that this connection may ask: it has its place for as long as it is open.
func (c *conn) keep() {
	if c.known.Swap(true) {
		return
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers.Remove(c.stranger)
}
