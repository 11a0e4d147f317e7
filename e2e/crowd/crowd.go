// Package crowd is an attack on a server: thousands of connections that never come to the
// end of what they say.
package crowd

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Crowd are such connections. The zero value has none.
type Crowd struct {
	all    sync.WaitGroup
	open   atomic.Int64
	oldest atomic.Int64 // nanoseconds

	mu    sync.Mutex
	conns []net.Conn
}

// Join opens a connection that begins with some text, and waits until it is cut.
func (c *Crowd) Join(t *testing.T, address, say string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	began := time.Now()
	_, _ = io.WriteString(conn, say)
	c.mu.Lock()
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
	c.open.Add(1)
	c.all.Go(func() {
		_, _ = io.Copy(io.Discard, conn)
		c.open.Add(-1)
		age := int64(time.Since(began))
		for old := c.oldest.Load(); age > old && !c.oldest.CompareAndSwap(old, age); old = c.oldest.Load() {
		}
	})
}

// Open returns how many are not cut yet.
func (c *Crowd) Open() int64 { return c.open.Load() }

// Oldest returns how old the one became that stayed longest.
func (c *Crowd) Oldest() time.Duration { return time.Duration(c.oldest.Load()) }

// Dribble sends a byte over each, again and again, so that none of them is ever idle.
func (c *Crowd) Dribble(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		conns := c.conns[:len(c.conns):len(c.conns)]
		c.mu.Unlock()
		for _, conn := range conns {
			_, _ = conn.Write([]byte("x")) // it may be cut
		}
	}
}

// Close ends all of them.
func (c *Crowd) Close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.all.Wait()
}

// Descriptors lets this process open so many files until the test ends.
func Descriptors(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur >= n {
		return
	}
	before := limit
	limit.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatalf("this test needs %d open files, and the limit is %d: raise it (ulimit -Hn): %v", n, limit.Max, err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
}
