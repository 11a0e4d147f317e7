package gateway

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// wires are connections to one server over which most requests go: those without a body,
// which do no harm if they are sent twice. They are written and answered in the goroutine
// of the request, which takes half the time of the standard transport, where two others
// take part. Everything else goes by that one.
type wires struct {
	authority string
	dialer    *net.Dialer
	most      int
	base      time.Time // idle times are counted from here

	mu     sync.Mutex // guards all below
	idle   []*wire    // the one used last at the end
	prune  *time.Timer
	closed bool
}

// simple reports whether a request may go over a wire.
func (o *outbound) simple() bool {
	r := o.request
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0 &&
		o.upgrade == "" && r.Trailer == nil && len(r.Header["Expect"]) == 0
}

// send sends a request and returns the beginning of the answer. That the server has closed
// a wire meanwhile is no failure: then a new one is taken, once, for which nobody can have
// closed it yet.
func (p *wires) send(o *outbound, s *server, w http.ResponseWriter) (*http.Response, error) {
	ctx := o.request.Context()
	if c := p.take(); c != nil {
		res, err := c.roundTrip(o, s, w)
		if err == nil {
			return res, nil
		}
		c.drop()
		if kindOf(err) != noAnswer || ctx.Err() != nil {
			return nil, err
		}
		p.clear() // the others are older still
	}
	conn, err := p.dialer.DialContext(ctx, "tcp", p.authority)
	if err != nil {
		return nil, &failure{notSent, err}
	}
	c := newWire(conn, p)
	res, err := c.roundTrip(o, s, w)
	if err != nil {
		c.drop()
	}
	return res, err
}

// take returns a wire that nobody uses, or nil.
func (p *wires) take() *wire {
	for {
		p.mu.Lock()
		last := len(p.idle) - 1
		if last < 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.mu.Unlock()
		if !c.stale() {
			return c
		}
		_ = c.Conn.Close()
	}
}

// put keeps a wire for later.
func (p *wires) put(c *wire) {
	c.since = time.Since(p.base)
	p.mu.Lock()
	if p.closed || len(p.idle) >= p.most {
		p.mu.Unlock()
		_ = c.Conn.Close()
		return
	}
	p.idle = append(p.idle, c)
	if p.prune == nil {
		p.prune = time.AfterFunc(keepIdle, p.pruned)
	}
	p.mu.Unlock()
}

// pruned gives up those that were idle for too long.
func (p *wires) pruned() {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, limit := 0, time.Since(p.base)-keepIdle
	for old < len(p.idle) && p.idle[old].since <= limit {
		_ = p.idle[old].Conn.Close()
		old++
	}
	rest := copy(p.idle, p.idle[old:])
	clear(p.idle[rest:])
	p.idle = p.idle[:rest]
	p.prune = nil
	if rest > 0 && !p.closed {
		p.prune = time.AfterFunc(keepIdle/2, p.pruned)
	}
}

// clear gives up all that are idle.
func (p *wires) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		_ = c.Conn.Close()
	}
	clear(p.idle)
	p.idle = p.idle[:0]
}

// close gives up all; those in use when they are put back.
func (p *wires) close() {
	p.mu.Lock()
	p.closed = true
	if p.prune != nil {
		p.prune.Stop()
	}
	p.mu.Unlock()
	p.clear()
}

// newWire makes a wire of a connection.
func newWire(conn net.Conn, p *wires) *wire {
	c := &wire{Conn: conn, pool: p}
	c.reader = bufio.NewReaderSize(limitedReader{c}, 16<<10)
	c.prepareStale()
	return c
}

// limitedReader reads from the connection as much as an answer's header may take.
type limitedReader struct{ *wire }

var errHeaderTooLarge = errors.New("the header of the answer is larger than 1 MiB")

func (l limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errHeaderTooLarge
	}
	n, err := l.Conn.Read(p)
	l.left -= int64(n)
	return n, err
}
