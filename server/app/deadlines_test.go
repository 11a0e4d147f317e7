package app

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// step is something that happens to a connection at a time.
type step struct {
	at    time.Duration
	until time.Duration // the new limit, from the beginning on; 0: none
	data  bool          // a byte comes instead
}

// steps makes some. Nothing happens at the time of a limit.
func steps(r *rand.Rand) (all []step) {
	const ms = time.Millisecond
	at := time.Duration(0)
	for range 60 {
		at += time.Duration(1+r.IntN(40)) * ms
		s := step{at: at}
		switch r.IntN(4) {
		case 0:
			s.data = true
		case 1:
			s.until = -time.Hour
		case 2:
			s.until = at + time.Duration(r.IntN(100)-10)*ms + 300*time.Microsecond
		}
		all = append(all, s)
	}
	return all
}

// play lets the steps happen while somebody reads, and returns what that saw, and when.
func play(c, peer net.Conn, all []step) (seen []string) {
	began, done, data := time.Now(), make(chan bool), make(chan []byte, len(all))
	go func() {
		for b := range data {
			_, _ = peer.Write(b)
		}
	}()
	go func() {
		defer close(done)
		for b := make([]byte, 1); ; {
			_, err := c.Read(b)
			seen = append(seen, fmt.Sprintf("%v %v %v", time.Since(began), err == nil, errors.Is(err, os.ErrDeadlineExceeded)))
			if err == io.EOF {
				return
			}
			if err != nil {
				time.Sleep(9_000_007) // never the time of a step or a limit
			}
		}
	}()
	for _, s := range all {
		time.Sleep(time.Until(began.Add(s.at)))
		switch {
		case s.data:
			data <- []byte{1}
		case s.until == 0:
			_ = c.SetReadDeadline(time.Time{})
		default:
			_ = c.SetReadDeadline(began.Add(s.until))
		}
	}
	time.Sleep(500 * time.Microsecond) // whoever reads has seen the last step
	close(data)
	_ = c.SetDeadline(time.Time{})
	_ = peer.Close()
	<-done
	return seen
}

// Whatever is set when, whoever reads sees what it would without us.
func TestDeadlinesAreKept(t *testing.T) {
	for range 200 {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			all := steps(rand.New(rand.NewPCG(seed, 1)))
			plain, plainPeer := net.Pipe()
			want := play(plain, plainPeer, all)
			lazy, lazyPeer := net.Pipe()
			got := play(newConn(lazy, nil, time.Now()), lazyPeer, all)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: saw\n%q, want\n%q", seed, got, want)
			}
		})
	}
}

// armed counts how often the system hears of a limit.
type armed struct {
	net.Conn
	n int
}

func (a *armed) SetReadDeadline(t time.Time) error  { a.n++; return a.Conn.SetReadDeadline(t) }
func (a *armed) SetWriteDeadline(t time.Time) error { a.n++; return a.Conn.SetWriteDeadline(t) }

// A thousand requests in ten seconds move the limits as net/http does: the system hears
// of it a few times.
func TestDeadlinesAreSetSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, peer := net.Pipe()
		system := &armed{Conn: ours}
		c := newConn(system, nil, time.Now())
		gone := make(chan bool)
		defer func() { _ = ours.Close(); <-gone }()
		go func() {
			defer close(gone)
			for b := make([]byte, 1); ; time.Sleep(10 * time.Millisecond) {
				if _, err := peer.Write(b); err != nil {
					return
				}
				_, _ = peer.Read(b)
			}
		}()
		for range 1000 {
			_ = c.SetReadDeadline(time.Now().Add(30 * time.Second)) // idle
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // header
			_ = c.SetReadDeadline(time.Now().Add(8 * time.Second)) // body
			_ = c.SetWriteDeadline(time.Now().Add(30 * time.Second))
			_ = c.SetReadDeadline(time.Time{})
			if _, err := c.Write(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Unix(1, 0)) // nobody shall read any more
			if _, err := c.Read(make([]byte, 1)); err != os.ErrDeadlineExceeded {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Time{})
			_ = c.SetWriteDeadline(time.Time{})
		}
		if system.n > 10 {
			t.Errorf("it heard of it %d times", system.n)
		}
	})
}

// halting writes one byte at a time, as if the limit were over after each.
type halting struct {
	net.Conn
	got []byte
}

func (h *halting) SetWriteDeadline(time.Time) error { return nil }

func (h *halting) Write(p []byte) (int, error) {
	h.got = append(h.got, p[0])
	if len(p) == 1 {
		return 1, nil
	}
	return 1, os.ErrDeadlineExceeded
}

// What is written while the system's limit is too early goes on where it ended.
func TestWritesGoOn(t *testing.T) {
	h := &halting{}
	c := newConn(h, nil, time.Now())
	if n, err := c.Write([]byte("abc")); n != 3 || err != nil || string(h.got) != "abc" {
		t.Errorf("%d %v, and %q was written", n, err, h.got)
	}
	_ = c.SetWriteDeadline(time.Unix(1, 0))
	if n, err := c.Write([]byte("abc")); n != 0 || err != os.ErrDeadlineExceeded {
		t.Errorf("after the limit: %d %v", n, err)
	}
}

// net/http ends a read of its own after each request by a limit that is over. It must
// never miss it, wherever the read is.
func TestReadsAreEnded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	peer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	limited := limitListener(l, 1)
	c, err := limited.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3000 {
		ended := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		for range i % 4 {
			runtime.Gosched()
		}
		_ = c.SetReadDeadline(time.Unix(1, 0))
		select {
		case err := <-ended:
			if netErr, ok := err.(net.Error); !ok || !netErr.Timeout() {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("read %d does not end", i)
		}
		_ = c.SetReadDeadline(time.Time{})
	}
}
