package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// wire is a connection whose client has said everything already.
type wire struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (w *wire) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }

func (w *wire) Read(b []byte) (int, error)       { return w.in.Read(b) }
func (w *wire) Write(b []byte) (int, error)      { return w.out.Write(b) }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
func (w *wire) Close() error                     { return nil }

// FuzzSession: whatever is sent, answers can be read, and memory stays bounded.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		"PING\r\n", "HELLO 3\r\nSLUICE.CHECK login ip=192.0.2.1 COST 2\r\nSLUICE.PEEK login ip=::1\r\nSLUICE.RESET login ip=::1\r\n",
		"*5\r\n$11\r\nCL.THROTTLE\r\n$1\r\nk\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n", "CL.THROTTLE k 1 1 1 -5\r\nCL.THROTTLE k -1 1 1\r\n",
		"AUTH x\r\nCLIENT SETNAME a\r\nCLIENT GETNAME\r\nCOMMAND\r\nCOMMAND DOCS\r\nINFO\r\nSELECT 0\r\nECHO a\r\nQUIT\r\n",
		"SLUICE.CHECK tenant plan=a header:x=y tenant=\"\\x00\\r\\n\"\r\n", "POST / HTTP/1.1\r\n", "*1\r\n$4\r\nPI", "FOO \"\\r\\n\"\r\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	near, remote := newDoor(f, nil), newDoor(f, func(o *Options) { o.Parallel = 4 })
	f.Fuzz(func(t *testing.T, data []byte, parallel bool) {
		door := near
		if parallel {
			door = remote
		}
		w := &wire{in: bytes.NewReader(data)}
		s := newSession(door, w)
		s.serve()
		if cap(s.buffer) > maxRequest || len(s.wave) > 0 {
			t.Fatalf("it holds %d bytes, %d requests", cap(s.buffer), len(s.wave))
		}
		for r := bufio.NewReader(&w.out); ; {
			switch err := readReply(r, 0); {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				t.Fatal(err)
			}
		}
	})
}

// readReply reads one answer, as a client would that is strict. The end is io.EOF only
// before an answer.
func readReply(r *bufio.Reader, depth int) error {
	line, err := r.ReadString('\n')
	if err != nil {
		if line == "" && depth == 0 {
			return io.EOF
		}
		return fmt.Errorf("the answer ends with %q", line)
	}
	if len(line) < 3 || line[len(line)-2] != '\r' || depth > 3 {
		return fmt.Errorf("no answer: %q", line)
	}
	kind, rest := line[0], line[1:len(line)-2]
	switch kind {
	case '+', '-', '#', '_':
		return nil
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return fmt.Errorf("no number in %q", line)
	}
	switch kind {
	case ':':
		return nil
	case '$':
		if n < 0 {
			return nil
		}
		text := make([]byte, n+2)
		if _, err := io.ReadFull(r, text); err != nil || string(text[n:]) != "\r\n" {
			return fmt.Errorf("a text of %d bytes ends with %q", n, text)
		}
		return nil
	case '%':
		n *= 2
	case '*':
	default:
		return fmt.Errorf("no answer: %q", line)
	}
	for range n {
		if err := readReply(r, depth+1); err != nil {
			return err
		}
	}
	return nil
}
