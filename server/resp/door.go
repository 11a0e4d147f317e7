package resp

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// Options sets up a Door.
type Options struct {
	Engine *engine.Engine // decides by rules
	Store  store.Store    // keeps the buckets of CL.THROTTLE

	Tokens  [][sha256.Size]byte // hashes of those that hold at first; see SetTokens
	Exposed bool                // the address can be reached from other machines
	TLS     *tls.Config         // nil: connections are in the clear

	Connections int           // how many are open at the same time; 10,000 if 0
	Idle        time.Duration // how long one may stay without a request; an hour if 0
	Places      Places        // bounds what is worked on at the same time; nil: no bound

	// Parallel is how many decisions of one pipeline are made at the same time. For a store
	// in this process 1 is best, which is meant by 0. For a remote one it should be some
	// dozens, so that they share its round trips. Those of CL.THROTTLE about the same key are
	// always made in the order of the pipeline, and so are those of a rule with the same
	// arguments, the cost aside. SLUICE.RESET comes after all before it.
	Parallel int

	// Note is told who has reset the budgets of a request, or tried to; may be nil. The
	// request is good until it returns.
	Note func(source, action string, r engine.Request, failed error)

	Observer Observer // told how long the requests that arrived together took; may be nil
	Now      func() time.Time
	Version  string // of the program
	Logger   *slog.Logger
}

// Places bounds how many requests are worked on. What a connection has sent at once, a
// pipeline, is one.
type Places interface {
	Enter() bool // who gets true has to Leave
	Leave()
}

// Observer is told durations in seconds.
type Observer interface{ Observe(seconds float64) }

// Defaults of Options.
const (
	DefaultConnections = 10_000
	DefaultIdle        = time.Hour
)

// Door answers Redis clients.
type Door struct {
	options     Options
	commands    []command
	tokens      atomic.Pointer[tokens]
	known       atomic.Pointer[rules]
	desks       sync.Pool // of *desk
	connections connections
	lastID      atomic.Int64    // of a connection
	ctx         context.Context // ends when what is left is cut off
	cutOff      context.CancelFunc
	keepsKeys   bool // the store may, when it has answered
}

// New returns a door. Engine, Store and Now have to be given.
func New(o Options) *Door {
	if o.Connections <= 0 {
		o.Connections = DefaultConnections
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Door{options: o, commands: commands()}
	d.desks.New = func() any { return newDesk(d) }
	_, near := o.Store.(*memstore.Store)
	d.keepsKeys = !near // others ask Redis for a key later, such as for a lease
	d.ctx, d.cutOff = context.WithCancel(context.Background())
	d.SetTokens(o.Tokens)
	return d
}

// full is what a connection gets for which there is no place, in the words of Redis.
const full = "-ERR max number of clients reached\r\n"

// Serve answers on l until Shutdown, and returns nil then.
func (d *Door) Serve(l net.Listener) error {
	if !d.connections.listen(l) {
		return nil // it has been shut down before
	}
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
		case d.connections.closing.Load() || errors.Is(err, net.ErrClosed):
			return nil
		default: // most likely no file descriptor is free
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			d.options.Logger.Warn("resp: a connection could not be accepted", "error", err, "again in", pause)
			select {
			case <-time.After(pause):
			case <-d.ctx.Done():
			}
			continue
		}
		d.open(conn)
	}
}

// open answers one connection, if there is room for it.
func (d *Door) open(conn net.Conn) {
	if d.options.TLS != nil {
		conn = tls.Server(conn, d.options.TLS)
	}
	s := newSession(d, conn)
	if d.connections.enter(s, d.options.Connections) {
		go func() {
			defer d.connections.leave(s)
			s.serve()
		}()
		return
	}
	if d.options.TLS == nil { // a handshake is too much for who is turned away
		_ = conn.SetWriteDeadline(d.options.Now().Add(10 * time.Millisecond))
		_, _ = conn.Write([]byte(full))
	}
	_ = conn.Close()
}

// Shutdown accepts nothing more. Pipelines that were read are answered, and connections
// closed. If ctx ends before, it cuts off the rest and returns its error.
func (d *Door) Shutdown(ctx context.Context) error {
	defer d.cutOff()
	empty := d.connections.end()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	d.cutOff()
	d.connections.cut()
	<-empty
	return ctx.Err()
}
