package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Error is an error that the server answered.
type Error string

func (e Error) Error() string { return string(e) }

// session is a connection for commands, one after the other.
type session struct {
	net.Conn
	answers *bufio.Reader
}

func dial(addr string) (*session, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	return &session{conn, bufio.NewReader(conn)}, nil
}

// do sends one command and returns the answer: nil, string, int64 or []any.
func (s *session) do(args ...string) (any, error) {
	if err := s.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(s, b.String()); err != nil {
		return nil, err
	}
	return read(s.answers)
}

// read reads one answer of the RESP2 protocol.
func read(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return nil, Error(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("answer %q: %w", line, err)
	}
	switch {
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(r, text)
		return string(text[:n]), err
	case kind == '*':
		return readArray(r, n)
	}
	return nil, fmt.Errorf("answer %q: unknown type", line)
}

// readArray reads n answers. Errors among them are kept as values.
func readArray(r *bufio.Reader, n int64) ([]any, error) {
	list := make([]any, n)
	for i := range list {
		item, err := read(r)
		if refused := Error(""); errors.As(err, &refused) {
			item, err = refused, nil
		}
		if err != nil {
			return nil, err
		}
		list[i] = item
	}
	return list, nil
}
