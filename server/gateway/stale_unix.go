//go:build unix

package gateway

import "syscall"

// prepareStale makes what stale needs, so that it allocates nothing.
func (c *wire) prepareStale() {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	c.raw = raw
	c.peek = func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		c.quiet = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
	}
}

// stale reports whether a wire that was idle cannot be used: the server has closed it, or
// has sent what nobody asked for, which would be taken for the next answer.
func (c *wire) stale() bool {
	return c.raw == nil || c.raw.Control(c.peek) != nil || !c.quiet
}
