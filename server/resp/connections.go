package resp

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// connections are those that are open.
type connections struct {
	closing atomic.Bool

	mu        sync.Mutex // guards all below, and the elements of the sessions
	listener  net.Listener
	sessions  map[*session]struct{}
	strangers list.List     // of sessions that have not shown a token, oldest first
	dropped   int           // sessions that have had to give way, and have not left yet
	empty     chan struct{} // closed when the last one has left after the end; nil before
}

// listen takes note of the listener; false means that it is too late.
func (c *connections) listen(l net.Listener) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener = l
	return !c.closing.Load()
}

// enter takes a session in, if there are fewer than most and it is not too late. When
// there is no room, the oldest that has not shown a token gives way: whoever has none
// must not keep others out.
func (c *connections) enter(s *session, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Load() || len(c.sessions)-c.dropped >= most && !c.drop() {
		return false
	}
	if c.sessions == nil {
		c.sessions = map[*session]struct{}{}
	}
	c.sessions[s] = struct{}{}
	if !s.allowed {
		s.stranger = c.strangers.PushBack(s)
	}
	return true
}

// drop closes the connection of the oldest stranger, and reports whether there was one.
func (c *connections) drop() bool {
	oldest := c.strangers.Front()
	if oldest == nil {
		return false
	}
	s := c.strangers.Remove(oldest).(*session)
	s.dropped = true
	c.dropped++
	s.sever()
	return true
}

// know says that a session has shown a token: it has its place for as long as it is open.
func (c *connections) know(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.stranger != nil {
		c.strangers.Remove(s.stranger) // nothing, if it has been dropped
	}
}

func (c *connections) leave(s *session) {
	_ = s.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
	if s.stranger != nil {
		c.strangers.Remove(s.stranger)
	}
	if s.dropped {
		c.dropped--
	}
	if c.empty != nil && len(c.sessions) == 0 {
		close(c.empty)
	}
}

func (c *connections) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sessions)
}

// end lets nobody in any more and wakes all who wait for a request. What it returns is
// closed when all have left. It is called once.
func (c *connections) end() <-chan struct{} {
	c.closing.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil {
		_ = c.listener.Close()
	}
	c.empty = make(chan struct{})
	if len(c.sessions) == 0 {
		close(c.empty)
	}
	for s := range c.sessions {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // long ago
	}
	return c.empty
}

// cut closes all connections.
func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.sessions {
		s.sever()
	}
}

// sever closes the connection at once. A farewell by TLS could wait for who does not read.
func (s *session) sever() {
	conn := s.conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

// hostOf returns an address without its port.
func hostOf(address net.Addr) string {
	text := address.String()
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return text
}
