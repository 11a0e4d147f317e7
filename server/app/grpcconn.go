package app

import (
	"errors"
	"net"
	"syscall"
)

// grpcListener gives gRPC connections that have a place.
type grpcListener struct{ *limited }

// Accept implements [net.Listener].
func (l grpcListener) Accept() (net.Conn, error) {
	accepted, err := l.limited.Accept()
	if err != nil {
		return nil, err
	}
	place := accepted.(*conn)
	return &grpcConn{place.Conn, place}, nil
}

// grpcConn is a connection as the system has it: gRPC waits until there is something to
// read before it takes memory to read into, and sets time limits only while it greets.
type grpcConn struct {
	net.Conn
	place *conn
}

// Close gives the place back.
func (c *grpcConn) Close() error { return c.place.Close() }

// SyscallConn implements [syscall.Conn].
func (c *grpcConn) SyscallConn() (syscall.RawConn, error) {
	if raw, ok := c.Conn.(syscall.Conn); ok {
		return raw.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// keepGRPC keeps the connection of a call that may be made.
func keepGRPC(c net.Conn) {
	if c, ok := c.(*grpcConn); ok && !c.place.known.Load() {
		c.place.keep()
	}
}
