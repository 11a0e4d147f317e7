package gateway

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// crowd are connections that never come to the end of what they say.
type crowd struct {
	all    sync.WaitGroup
	open   atomic.Int64
	oldest atomic.Int64 // nanoseconds

	mu    sync.Mutex
	conns []net.Conn
}

// begins is what they say first.
func begins(i int) string {
	switch i % 4 {
	case 1:
		return "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
	case 2:
		return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
	case 3:
		return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	}
	return ""
}

func (s *crowd) join(t *testing.T, address, say string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	began := time.Now()
	_, _ = io.WriteString(c, say)
	s.mu.Lock()
	s.conns = append(s.conns, c)
	s.mu.Unlock()
	s.open.Add(1)
	s.all.Go(func() {
		_, _ = io.Copy(io.Discard, c)
		s.open.Add(-1)
		age := int64(time.Since(began))
		for old := s.oldest.Load(); age > old && !s.oldest.CompareAndSwap(old, age); old = s.oldest.Load() {
		}
	})
}

// dribble sends a byte over each, again and again, so that none of them is ever idle.
func (s *crowd) dribble(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		conns := s.conns[:len(s.conns):len(s.conns)]
		s.mu.Unlock()
		for _, c := range conns {
			_, _ = c.Write([]byte("x"))
		}
	}
}

func (s *crowd) close() {
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.all.Wait()
}

// TestSlowConnections: 5,000 connections that say nothing, or slowly, hold up nobody and
// are cut, with fewer places than that.
func TestSlowConnections(t *testing.T) {
	const many = 5000
	descriptors(t, many+1000)
	up := upstream(t, proxytest.FreeAddr(t))
	g := start(t, strings.Replace(section("http://"+up.Addr), "LISTEN,", "LISTEN, limits: {connections: 2000},", 1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	attack, n := &crowd{}, &tally{}
	defer attack.close()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { n.ask(ctx, t, "http://"+g.gateway, "GET") })
	}
	eventually(t, "there is load", func() bool { return n.answered.Load() > 100 })
	work.Go(func() { attack.dribble(ctx) })
	for i := range many {
		attack.join(t, g.gateway, begins(i))
	}
	during := n.answered.Load()
	eventually(t, "all are cut", func() bool { return attack.open.Load() == 0 })
	cancel()
	work.Wait()
	t.Logf("the oldest slow connection became %v old; %d answers meanwhile", time.Duration(attack.oldest.Load()), n.answered.Load())
	if n.failed.Load() > 0 || n.answered.Load() < during {
		t.Errorf("%d failed, %d answered", n.failed.Load(), n.answered.Load())
	}
}

// descriptors lets this process open so many files.
func descriptors(t *testing.T, n uint64) {
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
