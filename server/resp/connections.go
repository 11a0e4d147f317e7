package resp

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// connections are those that are open.
type connections struct {
	closing atomic.Bool

	mu       sync.Mutex // guards all below
	listener net.Listener
	sessions map[*session]struct{}
	empty    chan struct{} // closed when the last one has left after the end; nil before
}

// listen takes note of the listener; false means that it is too late.
func (c *connections) listen(l net.Listener) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener = l
	return !c.closing.Load()
}

// enter takes a session in, if there are fewer than most and it is not too late.
func (c *connections) enter(s *session, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Load() || len(c.sessions) >= most {
		return false
	}
	if c.sessions == nil {
		c.sessions = map[*session]struct{}{}
	}
	c.sessions[s] = struct{}{}
	return true
}

func (c *connections) leave(s *session) {
	_ = s.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
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
		_ = s.conn.Close()
	}
}
