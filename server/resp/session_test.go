package resp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counted counts writes.
type counted struct {
	net.Conn
	writes atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// TestPipeline: what is sent at once is answered at once, in order.
func TestPipeline(t *testing.T) {
	door := newDoor(t, nil)
	client, server := net.Pipe()
	wire := &counted{Conn: server}
	s := newSession(door, wire)
	done := make(chan struct{})
	go func() { s.serve(); close(done) }()
	var request, want strings.Builder
	for i := range 100 {
		fmt.Fprintf(&request, "*2\r\n$4\r\nECHO\r\n$2\r\n%02d\r\n", i)
		fmt.Fprintf(&want, "$2\r\n%02d\r\n", i)
	}
	exchange(t, client, request.String(), want.String())
	if n := wire.writes.Load(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	_ = client.Close()
	<-done
}

// TestPieces: a stream that comes byte by byte is answered as one that comes at once.
func TestPieces(t *testing.T) {
	door := newDoor(t, nil)
	conn := connect(t, door)
	request := "*2\r\n$4\r\nECHO\r\n$1\r\na\r\nPING\r\n*1\r\n$4\r\nPING\r\n*0\r\n\r\nQUIT\r\n"
	go func() {
		for i := range len(request) {
			_, _ = io.WriteString(conn, request[i:i+1])
		}
	}()
	got, err := io.ReadAll(conn)
	if want := "$1\r\na\r\n+PONG\r\n+PONG\r\n+OK\r\n"; string(got) != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestLong: a request as long as one can be is answered, those around it too, and the
// memory for it is given back. What is longer ends the connection.
func TestLong(t *testing.T) {
	door := newDoor(t, nil)
	long := strings.Repeat("x", maxRequest-100)
	echo := fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(long), long)
	got := talk(t, door, "PING\r\n"+echo+"PING\r\n"+echo+echo+"QUIT\r\n")
	answer := fmt.Sprintf("$%d\r\n%s\r\n", len(long), long)
	if want := "+PONG\r\n" + answer + "+PONG\r\n" + answer + answer + "+OK\r\n"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if got, want := talk(t, door, "*1\r\n$65530\r\n"), "-ERR Protocol error: request is longer than 64 KiB\r\n"; got != want {
		t.Errorf("too long: %q, want %q", got, want)
	}
	client, server := net.Pipe()
	s := newSession(door, server)
	done := make(chan struct{})
	go func() { s.serve(); close(done) }()
	exchange(t, client, echo+"PING\r\n", answer+"+PONG\r\n")
	exchange(t, client, "PING\r\n", "+PONG\r\n") // it has been through its loop once more
	_ = client.Close()
	<-done
	if len(s.buffer) != bufferSize {
		t.Errorf("it keeps %d bytes", len(s.buffer))
	}
}

// TestLongest: a request that fills the longest buffer before it is complete ends the
// connection, instead of being read into no space again and again.
func TestLongest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := newDoor(t, nil)
	go func() { _ = door.Serve(listener) }()
	defer door.Shutdown(context.Background())
	const head = "*3\r\n$4\r\nECHO\r\n$65512\r\n"
	for _, rest := range []string{"", "$1"} { // the next argument is missing, or its length is
		conn := dial(t, listener)
		size := strconv.Itoa(maxRequest - len(head) - len("\r\n") - len(rest))
		filled := strings.Replace(head, "65512", size, 1) + strings.Repeat("x", maxRequest-len(head)-len("\r\n")-len(rest)) + "\r\n" + rest
		if _, err := io.WriteString(conn, filled); err != nil || len(filled) != maxRequest {
			t.Fatal(len(filled), err)
		}
		if got, err := io.ReadAll(conn); err != nil || string(got) != "-ERR Protocol error: request is longer than 64 KiB\r\n" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestLongThenBusy: who has sent a long request and goes on without a pause is not taken
// for somebody who sends a long request slowly.
func TestLongThenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, newDoor(t, nil))
		long := strings.Repeat("x", 2*bufferSize)
		exchange(t, conn, fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\nPI", len(long), long), fmt.Sprintf("$%d\r\n%s\r\n", len(long), long))
		for range 60 { // there is always a piece of the next request
			time.Sleep(time.Second)
			exchange(t, conn, "NG\r\nPI", "+PONG\r\n")
		}
	})
}

// TestNoRequest: what is no request ends the connection, with a word about it unless it
// comes from a browser.
func TestNoRequest(t *testing.T) {
	door := newDoor(t, nil)
	for in, want := range map[string]string{
		"PING\r\n*x\r\nPING\r\n": "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n",
		"*1\r\n+OK\r\n":          "-ERR Protocol error: expected '$'\r\n",
		"\"\r\n":                 "-ERR Protocol error: unbalanced quotes in request\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\n\r\nPING\r\n":             "",
		"GET /x HTTP/1.0\r\nPING\r\n":                            "",
		"Host: 127.0.0.1:6380\r\nPING\r\n":                       "",
		"PING\r\nQUIT\r\nPING\r\n":                               "+PONG\r\n+OK\r\n",
		"*3\r\n$4\r\nECHO\r\n$1\r\na\r\n$5\r\nHTTP/\r\nQUIT\r\n": "-ERR wrong number of arguments for 'echo' command\r\n+OK\r\n",
	} {
		if got := talk(t, door, in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// full are places that are all taken.
type noPlaces struct{}

func (noPlaces) Enter() bool { return false }
func (noPlaces) Leave()      { panic("nobody has entered") }

// TestBusy: what is too much is turned away, and the connection stays.
func TestBusy(t *testing.T) {
	busy := "-BUSY this server has more requests than it takes; try again after a second, or raise limits.in_flight\r\n"
	for _, parallel := range []int{1, 8} {
		door := newDoor(t, func(o *Options) { o.Places, o.Parallel = noPlaces{}, parallel })
		if got, want := say(t, door, "CL.THROTTLE k 1 1 1\r\nPING\r\nSLUICE.CHECK login ip=192.0.2.1"), busy+"+PONG\r\n"+busy; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// somePlaces counts who has entered and not left.
type somePlaces struct{ taken atomic.Int64 }

func (p *somePlaces) Enter() bool { p.taken.Add(1); return true }
func (p *somePlaces) Leave()      { p.taken.Add(-1) }

// TestPlacesComeBack: a place is given back when the decisions are made, also by who does
// not read the answers, and when a decision fails.
func TestPlacesComeBack(t *testing.T) {
	var places somePlaces
	door := newDoor(t, func(o *Options) { o.Places, o.Store = &places, faulty{} })
	if got := talk(t, door, "CL.THROTTLE bad 1 1 1\r\n"); got != "" || places.taken.Load() != 0 {
		t.Errorf("%d are taken after a mistake, the answer is %q", places.taken.Load(), got)
	}
	for _, parallel := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			conn := connect(t, newDoor(t, func(o *Options) { o.Places, o.Parallel = &places, parallel }))
			check := "SLUICE.CHECK login ip=192.0.2.1\r\n"
			if _, err := io.WriteString(conn, strings.Repeat(check, bufferSize/len(check))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the answers are more than are sent at once, and nobody reads them
			if n := places.taken.Load(); n != 0 {
				t.Errorf("%d places are taken, with %d at a time", n, parallel)
			}
		})
	}
}

// observed counts what is observed.
type observed struct{ n atomic.Int64 }

func (o *observed) Observe(float64) { o.n.Add(1) }

// TestObserved: a pipeline with decisions counts once, others do not.
func TestObserved(t *testing.T) {
	var o observed
	door := newDoor(t, func(options *Options) { options.Observer = &o })
	conn := connect(t, door)
	exchange(t, conn, "PING\r\n", "+PONG\r\n")
	exchange(t, conn, "CL.THROTTLE k 0 1 100\r\nCL.THROTTLE k 0 1 100\r\n", "*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:100\r\n*5\r\n:1\r\n")
	exchangeEnd(t, conn)
	if n := o.n.Load(); n != 1 {
		t.Errorf("%d were observed, want 1", n)
	}
}

// exchangeEnd says QUIT and reads to the end.
func exchangeEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	go func() { _, _ = io.WriteString(conn, "QUIT\r\n") }()
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
}

// TestIdle: who says nothing is disconnected, strangers and who is slow soon.
func TestIdle(t *testing.T) {
	big := fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n", bufferSize+1)
	for _, c := range []struct {
		name, first, answer string
		change              func(*Options)
		want                time.Duration
	}{
		{"nothing", "", "", nil, time.Hour},
		{"a request", "PING\r\n", "+PONG\r\n", nil, time.Hour + 5*time.Minute},
		{"a stranger", "PING\r\n", "+PONG\r\n", func(o *Options) { o.Exposed = true }, 10 * time.Second},
		{"half of a long request", "PING\r\n" + big, "+PONG\r\n", nil, 5*time.Minute + 10*time.Second},
		{"shorter", "", "", func(o *Options) { o.Idle = time.Minute }, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := connect(t, newDoor(t, c.change))
				start := time.Now()
				if c.first != "" && c.name != "a stranger" {
					exchange(t, conn, "PING\r\n", "+PONG\r\n")
					time.Sleep(5 * time.Minute)
					exchange(t, conn, "PING\r\n", "+PONG\r\n")
				}
				if c.first != "" {
					exchange(t, conn, c.first, c.answer)
				}
				_, err := conn.Read(make([]byte, 1))
				// The deadline is not moved for every request, but for one in a quarter of it.
				if took := time.Since(start); !errors.Is(err, io.EOF) || took > c.want || took < c.want*3/4 {
					t.Errorf("%v after %v, want the end after %v", err, took, c.want)
				}
			})
		})
	}
}

// TestDeaf: who does not read answers is disconnected.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(t, nil)
		conn := connect(t, door)
		start := time.Now()
		if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		for door.connections.open() > 0 {
			time.Sleep(time.Second)
		}
		if took := time.Since(start); took < hurry || took > 2*hurry+time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestShutdown: what was read is answered, what waits is disconnected, and nobody new is
// let in.
func TestShutdown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	slow := &gate{entered: make(chan struct{}, 8), open: make(chan struct{})}
	door := newDoor(t, func(o *Options) { o.Store = slow })
	served := make(chan error, 1)
	go func() { served <- door.Serve(listener) }()
	working, waiting := dial(t, listener), dial(t, listener)
	exchange(t, waiting, "PING\r\n", "+PONG\r\n")
	if _, err := io.WriteString(working, "CL.THROTTLE k 0 1 100\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	<-slow.entered
	ended := make(chan error, 1)
	go func() { ended <- door.Shutdown(context.Background()) }()
	if got, err := io.ReadAll(waiting); err != nil || len(got) > 0 {
		t.Errorf("who waits gets %q, %v", got, err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("somebody was let in")
	}
	close(slow.open)
	if got, err := io.ReadAll(working); err != nil || !bytes.HasSuffix(got, []byte("+PONG\r\n")) {
		t.Errorf("what was read is answered %q, %v", got, err)
	}
	if err := errors.Join(<-ended, <-served); err != nil {
		t.Error(err)
	}
	if err := door.Serve(listener); err != nil {
		t.Errorf("serving after the end: %v", err)
	}
}

// TestCutOff: when the time is over, what is left is cut off.
func TestCutOff(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	slow := &gate{entered: make(chan struct{}, 8), open: make(chan struct{})}
	door := newDoor(t, func(o *Options) { o.Store = slow })
	served := make(chan error, 1)
	go func() { served <- door.Serve(listener) }()
	conn := dial(t, listener)
	if _, err := io.WriteString(conn, "CL.THROTTLE k 0 1 100\r\n"); err != nil {
		t.Fatal(err)
	}
	<-slow.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := door.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestConnections: there are so many, and who comes then is told.
func TestConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := newDoor(t, func(o *Options) { o.Connections = 1 })
	go func() { _ = door.Serve(listener) }()
	defer door.Shutdown(context.Background())
	first := dial(t, listener)
	exchange(t, first, "PING\r\n", "+PONG\r\n")
	second := dial(t, listener)
	if got, err := io.ReadAll(second); string(got) != full || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the second gets %q, %v", got, err)
	}
	exchangeEnd(t, first)
	for door.connections.open() > 0 {
		time.Sleep(time.Millisecond)
	}
	exchange(t, dial(t, listener), "PING\r\n", "+PONG\r\n")
}

// TestStrangersGiveWay: who has no token cannot keep others out, however many there are
// of it. Who has shown one keeps its place.
func TestStrangersGiveWay(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := newDoor(t, func(o *Options) { o.Connections, o.Exposed, o.Tokens = 3, true, [][sha256.Size]byte{hashed("secret")} })
	go func() { _ = door.Serve(listener) }()
	defer door.Shutdown(context.Background())
	first := dial(t, listener)
	exchange(t, first, "AUTH secret\r\n", "+OK\r\n")
	var strangers []net.Conn
	for range 10 {
		conn := dial(t, listener)
		exchange(t, conn, "PING\r\n", "+PONG\r\n")
		strangers = append(strangers, conn)
	}
	if got, err := io.ReadAll(strangers[0]); err != nil || len(got) > 0 {
		t.Errorf("the oldest stranger gets %q, %v; want the end", got, err)
	}
	for range 2 {
		exchange(t, dial(t, listener), "AUTH secret\r\nPING\r\n", "+OK\r\n+PONG\r\n")
	}
	exchange(t, first, "PING\r\n", "+PONG\r\n")
	if got, err := io.ReadAll(dial(t, listener)); string(got) != full || err != nil {
		t.Errorf("when all have shown a token, one more gets %q, %v", got, err)
	}
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestTooLate: a connection that begins to wait when the door is being closed does not.
func TestTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(t, nil)
		door.connections.closing.Store(true)
		client, server := net.Pipe()
		defer client.Close()
		start := time.Now()
		newSession(door, server).serve()
		if took := time.Since(start); took > 0 {
			t.Errorf("it waited for %v", took)
		}
	})
}
