// Package resp is a small client for Redis (RESP2), for tests: the root module
// has no client library. Calls of many goroutines share one connection and are
// pipelined; nothing is ever sent twice.
package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// Error is an error that the server answered.
type Error string

func (e Error) Error() string { return string(e) }

// Client is one connection. All methods may be used by many goroutines.
type Client struct {
	conn net.Conn

	mu      sync.Mutex // guards writing and the order of pending
	w       *bufio.Writer
	flush   chan struct{}
	pending chan chan reply
	done    chan struct{} // closed when the connection is
	err     error         // why, once done is closed
	once    sync.Once
	ended   sync.WaitGroup
}

type reply struct {
	value any
	err   error
}

// pipeline is how many calls may be on their way.
const pipeline = 4096

// Dial connects to a server.
func Dial(addr string) (*Client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("resp: %w", err)
	}
	c := &Client{
		conn:    conn,
		w:       bufio.NewWriterSize(conn, 64<<10),
		flush:   make(chan struct{}, 1),
		pending: make(chan chan reply, pipeline),
		done:    make(chan struct{}),
	}
	c.ended.Go(c.read)
	c.ended.Go(c.flushAll)
	return c, nil
}

// Close ends the connection and waits for its goroutines.
func (c *Client) Close() error {
	c.fail(net.ErrClosed)
	c.ended.Wait()
	return nil
}

func (c *Client) fail(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.done)
		_ = c.conn.Close()
	})
}

// Do sends a command and returns its answer: int64, string, nil or []any.
func (c *Client) Do(ctx context.Context, command ...string) (any, error) {
	answer := make(chan reply, 1)
	if err := c.send(command, answer); err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		return r.value, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.done:
		return nil, c.err
	}
}

func (c *Client) send(command []string, answer chan reply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.pending <- answer:
	case <-c.done:
		return c.err
	}
	line := strconv.AppendInt(append(c.w.AvailableBuffer(), '*'), int64(len(command)), 10)
	line = append(line, "\r\n"...)
	for _, word := range command {
		line = append(strconv.AppendInt(append(line, '$'), int64(len(word)), 10), "\r\n"...)
		line = append(append(line, word...), "\r\n"...)
	}
	if _, err := c.w.Write(line); err != nil {
		return err
	}
	select {
	case c.flush <- struct{}{}:
	default: // it is asked for already
	}
	return nil
}

// flushAll sends what has been written, as soon as nobody is writing.
func (c *Client) flushAll() {
	for {
		select {
		case <-c.flush:
		case <-c.done:
			return
		}
		c.mu.Lock()
		err := c.w.Flush()
		c.mu.Unlock()
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// read hands the answers out in the order of the commands.
func (c *Client) read() {
	r := bufio.NewReaderSize(c.conn, 64<<10)
	for {
		value, err := Read(r)
		var answered Error
		if err != nil && !errors.As(err, &answered) {
			c.fail(err)
			return
		}
		select {
		case answer := <-c.pending:
			answer <- reply{value, err}
		case <-c.done:
			return
		}
	}
}

// Read reads one answer.
func Read(r *bufio.Reader) (any, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, fmt.Errorf("resp: bad line %q", line)
	}
	kind, text := line[0], string(line[1:len(line)-2])
	switch kind {
	case '+':
		return text, nil
	case '-':
		return nil, Error(text)
	case ':':
		return strconv.ParseInt(text, 10, 64)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, err
	}
	if kind == '$' {
		data := make([]byte, n+2)
		_, err := io.ReadFull(r, data)
		return string(data[:n]), err
	}
	return readArray(r, n)
}

// readArray reads n values. An error among them is a value.
func readArray(r *bufio.Reader, n int) (any, error) {
	values := make([]any, n)
	for i := range values {
		value, err := Read(r)
		var answered Error
		if errors.As(err, &answered) {
			value, err = answered, nil
		}
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}
