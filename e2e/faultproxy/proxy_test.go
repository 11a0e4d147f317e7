package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a server that returns what it gets and counts it.
type echo struct {
	net.Listener
	bytes atomic.Int64
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer conn.Close()
	b := make([]byte, 4096)
	for {
		n, err := conn.Read(b)
		if err != nil {
			return
		}
		e.bytes.Add(int64(n))
		if _, err := conn.Write(b[:n]); err != nil {
			return
		}
	}
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// roundTrip sends text and returns what comes back, up to the same number of bytes.
func roundTrip(conn net.Conn, text string) (string, error) {
	return roundTripWithin(conn, text, 10*time.Second)
}

func roundTripWithin(conn net.Conn, text string, within time.Duration) (string, error) {
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(within))
	got := make([]byte, len(text))
	n, err := io.ReadFull(conn, got)
	return string(got[:n]), err
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// TestForward: without faults everything passes, also much of it.
func TestForward(t *testing.T) {
	p := Start(t, startEcho(t).Addr().String())
	conn := dial(t, p)
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() { _, _ = conn.Write(sent) }()
	got, err := io.ReadAll(io.LimitReader(conn, int64(len(sent))))
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back: %v", len(got), err)
	}
	if p.Accepted() != 1 || p.Open() != 1 {
		t.Errorf("accepted %d, open %d", p.Accepted(), p.Open())
	}
}

// TestSlow: latency, jitter, rate and slices change when bytes come, not which.
func TestSlow(t *testing.T) {
	p := Start(t, startEcho(t).Addr().String())
	for _, c := range []struct {
		faults  Faults
		atLeast time.Duration
	}{
		{Faults{Latency: 20 * time.Millisecond}, 40 * time.Millisecond},
		{Faults{Latency: 10 * time.Millisecond, Jitter: 10 * time.Millisecond}, 20 * time.Millisecond},
		{Faults{Rate: 1000}, 100 * time.Millisecond},
		{Faults{Slice: true}, 0},
	} {
		p.Set(c.faults)
		conn, began := dial(t, p), time.Now()
		text := string(bytes.Repeat([]byte("x"), 100))
		if got, err := roundTrip(conn, text); err != nil || got != text {
			t.Errorf("%+v: %q, %v", c.faults, got, err)
		}
		if took := time.Since(began); took < c.atLeast {
			t.Errorf("%+v took %v", c.faults, took)
		}
	}
}

// TestSlices: a reader sees single bytes.
func TestSlices(t *testing.T) {
	p := Start(t, startEcho(t).Addr().String())
	p.Set(Faults{Slice: true, Rate: 1000})
	conn := dial(t, p)
	_, _ = io.WriteString(conn, "abc")
	b := make([]byte, 3)
	if n, err := conn.Read(b); n != 1 || err != nil {
		t.Errorf("the first read has %d bytes: %v", n, err)
	}
}

// TestCutAfter: a connection breaks after a number of bytes, others count their own.
func TestCutAfter(t *testing.T) {
	e := startEcho(t)
	p := Start(t, e.Addr().String())
	p.Set(Faults{CutAfter: 7})
	for range 2 {
		got, err := roundTrip(dial(t, p), "hello") // 5 there, 2 back
		if !isReset(err) || got != "" && got != "he" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := e.bytes.Load(); got != 10 {
		t.Errorf("%d bytes reached the server, want 10", got)
	}
}

// TestSwallow: requests reach the server, answers are lost; the connection stays or
// is cut. What has lost an answer brings no later one.
func TestSwallow(t *testing.T) {
	e := startEcho(t)
	p := Start(t, e.Addr().String())
	conn := dial(t, p)
	p.Set(Faults{Answers: Swallow})
	if got, err := roundTripWithin(conn, "lost", 50*time.Millisecond); got != "" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("swallowed: %q, %v", got, err)
	}
	p.Set(Faults{})
	if got, err := roundTripWithin(conn, "late", 50*time.Millisecond); got != "" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	p.Set(Faults{Answers: SwallowOneAndCut})
	if got, err := roundTrip(dial(t, p), "cut"); got != "" || !isReset(err) {
		t.Errorf("cut: %q, %v", got, err)
	}
	if got, err := roundTrip(dial(t, p), "new"); got != "new" || err != nil {
		t.Errorf("after the cut: %q, %v", got, err)
	}
	if got := p.Lost(); got != 2 {
		t.Errorf("%d answers were lost, want 2", got)
	}
	if got := e.bytes.Load(); got != 14 {
		t.Errorf("%d bytes reached the server, want 14", got)
	}
}

// TestSilent: a half-open connection takes bytes and brings nothing anywhere.
func TestSilent(t *testing.T) {
	e := startEcho(t)
	p := Start(t, e.Addr().String())
	p.Set(Faults{Silent: true})
	if got, err := roundTripWithin(dial(t, p), "hello", 50*time.Millisecond); got != "" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", got, err)
	}
	if got := e.bytes.Load(); got != 0 {
		t.Errorf("%d bytes reached the server", got)
	}
}

// TestRefuse: new connections are reset, open ones go on.
func TestRefuse(t *testing.T) {
	p := Start(t, startEcho(t).Addr().String())
	open := dial(t, p)
	if _, err := roundTrip(open, "a"); err != nil {
		t.Fatal(err)
	}
	p.Set(Faults{Refuse: true})
	wantRefused(t, p)
	if got, err := roundTrip(open, "old"); got != "old" || err != nil {
		t.Errorf("an open one: %q, %v", got, err)
	}
}

// TestCut: all open connections break, new ones work; so does a dead server.
func TestCut(t *testing.T) {
	e := startEcho(t)
	p := Start(t, e.Addr().String())
	conn := dial(t, p)
	if _, err := roundTrip(conn, "a"); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if _, err := roundTrip(conn, "b"); !isReset(err) {
		t.Errorf("after the cut: %v", err)
	}
	if got, err := roundTrip(dial(t, p), "c"); got != "c" || err != nil {
		t.Errorf("a new one: %q, %v", got, err)
	}
	e.Close()
	wantRefused(t, p)
}

// wantRefused checks that a new connection is reset, at once or at its first use.
func wantRefused(t *testing.T, p *Proxy) {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err == nil {
		defer conn.Close()
		_, err = roundTrip(conn, "new")
	}
	if !isReset(err) {
		t.Errorf("a new connection: %v", err)
	}
}
