// Package faultproxy is a TCP proxy that misbehaves on demand: it delays, throttles,
// slices, cuts, swallows answers, refuses and falls silent. What it does can be
// changed while connections are open.
package faultproxy

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Faults is what the proxy does to its connections. The zero value forwards all
// bytes as they come.
type Faults struct {
	Latency  time.Duration // every piece arrives that much later, in both directions
	Jitter   time.Duration // plus a random time up to this
	Rate     int           // bytes per second and direction; 0 is unlimited
	Slice    bool          // one byte at a time
	CutAfter int64         // cut a connection when it has carried that many bytes since the faults were set
	Answers  Answers       // what happens to bytes from the server
	Silent   bool          // nothing is forwarded in either direction, for good: half-open
	Refuse   bool          // new connections are cut at once; open ones are served
}

// Answers says what happens to bytes that come from the server.
type Answers uint8

const (
	// Forward brings them to the client.
	Forward Answers = iota
	// Swallow loses them: requests reach the server, the connection stays open and
	// never brings an answer again.
	Swallow
	// SwallowOneAndCut loses the next one and cuts its connection. After that the
	// proxy is without faults.
	SwallowOneAndCut
)

// Proxy forwards connections to one server.
type Proxy struct {
	target   string
	listener net.Listener
	faults   atomic.Pointer[setting]
	accepted atomic.Int64
	lost     atomic.Int64
	running  sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	links  map[*link]struct{}
}

// setting is one state of the faults; connections count their bytes anew with each.
type setting struct{ Faults }

// Start starts a proxy in front of a server, which ends with the test.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("faultproxy: %v", err)
	}
	p := &Proxy{target: target, listener: listener, links: map[*link]struct{}{}}
	p.Set(Faults{})
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr is the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes the faults of all connections, open and new.
func (p *Proxy) Set(f Faults) { p.faults.Store(&setting{f}) }

// Accepted is the number of connections that were opened so far.
func (p *Proxy) Accepted() int64 { return p.accepted.Load() }

// Lost is the number of times that an answer was swallowed so far.
func (p *Proxy) Lost() int64 { return p.lost.Load() }

// Open is the number of connections that are open now.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Cut resets all open connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// close ends the proxy and waits for all that it started.
func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.accepted.Add(1)
		if p.faults.Load().Refuse {
			reset(client)
			continue
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve connects a client to the server until either is gone.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	l := &link{proxy: p, client: client, server: server, gone: make(chan struct{})}
	if !p.add(l) {
		l.cut()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.carry(client, server, false) })
	both.Go(func() { l.carry(server, client, true) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// add notes an open connection; it reports false if the proxy is closed.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.links[l] = struct{}{}
	}
	return !p.closed
}

// reset closes a connection so that the other side sees a reset, not an end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
