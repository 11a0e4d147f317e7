package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

// wire is a connection over which one request goes after the other. It is also the body
// of the answer that is being read.
type wire struct {
	net.Conn
	pool   *wires
	reader *bufio.Reader
	left   int64 // that may still be read
	head   []byte
	since  time.Duration // when it was put back
	raw    syscall.RawConn
	peek   func(fd uintptr)
	quiet  bool // what peek found out

	// Of the exchange that is under way.
	body   io.ReadCloser
	closes bool          // the server closes the connection after the answer
	idle   time.Duration // how long it may be silent
	began  time.Time
	ctx    context.Context
	unhook func() bool // from the context; nil if nobody watches that
}

// patience is for how long nobody looks whether the client is still there: most answers
// are quicker.
const patience = 100 * time.Millisecond

// maxEarly is how many answers may come before the answer.
const maxEarly = 8

// The requests of answers, of which only the method matters.
var (
	aGet  = &http.Request{Method: http.MethodGet}
	aHead = &http.Request{Method: http.MethodHead}
)

// roundTrip sends a request and reads the beginning of the answer. After an error the
// wire is of no use.
func (c *wire) roundTrip(o *outbound, s *server, w http.ResponseWriter) (*http.Response, error) {
	c.began, c.idle, c.left = o.began, time.Duration(s.timeouts.Idle), maxAnswerHeader
	c.ctx, c.unhook = o.request.Context(), nil
	c.head = o.appendHead(c.head[:0], s)
	since := time.Since(c.began)
	answer := since + time.Duration(s.timeouts.Answer)
	if err := c.SetWriteDeadline(c.began.Add(answer)); err != nil {
		return nil, &failure{noAnswer, err}
	}
	_ = c.SetReadDeadline(c.began.Add(since + min(patience, time.Duration(s.timeouts.Answer))))
	if _, err := c.Conn.Write(c.head); err != nil {
		return nil, failed(noAnswer, err)
	}
	if err := c.await(c.began.Add(answer)); err != nil {
		return nil, failed(noAnswer, err)
	}
	return c.answer(o, w, c.began.Add(answer))
}

// answer reads the head of the answer, and those of answers before it.
func (c *wire) answer(o *outbound, w http.ResponseWriter, until time.Time) (*http.Response, error) {
	method := aGet
	if o.method == http.MethodHead {
		method = aHead
	}
	for range 1 + maxEarly {
		head := c.wholeHead()
		res, err := http.ReadResponse(c.reader, method)
		if err == nil && res.Close {
			removeNamedBeside(res, head)
		}
		switch {
		case err != nil:
			return nil, garbledOr(err)
		case res.StatusCode >= 200:
			return c.begin(res), nil
		case res.StatusCode < 100:
			return nil, &failure{garbled, errStatus}
		case res.StatusCode == http.StatusSwitchingProtocols:
			return nil, &failure{garbled, errUnasked}
		case res.StatusCode != http.StatusContinue:
			o.early(w, res.StatusCode, res.Header)
		}
		_ = c.SetReadDeadline(until)
	}
	return nil, &failure{garbled, errUnasked}
}

// wholeHead waits until a head is there as a whole and returns it, or nil if it does not
// fit into the buffer. It is good as long as nothing else is read. An error is left to who
// reads the head.
func (c *wire) wholeHead() []byte {
	for seen := 0; ; {
		there, _ := c.reader.Peek(c.reader.Buffered())
		from := there[max(0, seen-len("\n\r")):]
		if bytes.Contains(from, []byte("\n\r\n")) || bytes.Contains(from, []byte("\n\n")) {
			return there
		}
		if seen = len(there); seen == c.reader.Size() {
			return nil
		}
		if _, err := c.reader.Peek(seen + 1); err != nil {
			return nil
		}
	}
}

// removeNamedBeside removes the fields that stand beside "close" in Connection: in an
// answer with that, the standard library keeps nothing of the line.
func removeNamedBeside(res *http.Response, head []byte) {
	inside := false // of a line that may go on in the next
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			return // the end of the head
		}
		if line[0] != ' ' && line[0] != '\t' {
			var name []byte
			name, line, _ = bytes.Cut(line, []byte(":"))
			inside = bytes.EqualFold(name, []byte("Connection"))
		}
		if inside {
			removeNamed(res.Header, string(line))
		}
	}
}

var (
	errUnasked = errors.New("an answer that nobody has asked for")
	errStatus  = errors.New("an answer with a status below 100")
)

// garbledOr is for an answer that has begun: such a request is not sent again.
func garbledOr(err error) *failure {
	if f := failed(noAnswer, err); f.kind == tooLate {
		return f
	}
	return &failure{garbled, err}
}

// await waits for the first byte of the answer, and no longer than the client does. If
// the rest of the header is not there with it, it gets the whole time.
func (c *wire) await(until time.Time) error {
	_, err := c.reader.Peek(1)
	if err != nil {
		if late := net.Error(nil); !errors.As(err, &late) || !late.Timeout() {
			return err
		}
		c.watch(until)
		if _, err = c.reader.Peek(1); err != nil {
			return err
		}
	}
	there, _ := c.reader.Peek(c.reader.Buffered())
	if !bytes.Contains(there, []byte("\r\n\r\n")) {
		_ = c.SetReadDeadline(until)
	}
	return nil
}

// watch gives the server time, and breaks the connection when the client leaves.
func (c *wire) watch(until time.Time) {
	if c.unhook == nil {
		c.unhook = context.AfterFunc(c.ctx, func() { _ = c.Conn.SetDeadline(past) })
	}
	_ = c.SetReadDeadline(until)
	if c.ctx.Err() != nil { // it may have left just before the line above
		_ = c.SetReadDeadline(past)
	}
}

// past is over for every clock.
var past = time.Unix(1, 0)

// begin makes the wire the body of the answer. One that has none is over.
func (c *wire) begin(res *http.Response) *http.Response {
	c.closes, c.left = res.Close, math.MaxInt64
	if res.Body == http.NoBody || res.ContentLength == 0 {
		res.Body = http.NoBody
		c.finish()
		return res
	}
	c.body, res.Body = res.Body, c
	if res.ContentLength < 0 || res.ContentLength > int64(c.reader.Buffered()) {
		c.alive()
	}
	return res
}

// alive gives the server time for the next part.
func (c *wire) alive() { c.watch(c.began.Add(time.Since(c.began) + c.idle)) }

// Read reads the body of the answer.
func (c *wire) Read(p []byte) (int, error) {
	if c.body == nil {
		return 0, io.EOF
	}
	n, err := c.body.Read(p)
	switch {
	case err == io.EOF:
		c.body = nil // Close puts the wire back: until then it is the body of this answer
	case err == nil && c.unhook != nil:
		c.alive()
	}
	return n, err
}

// Close ends an answer, whether it was read to its end or not. It is called once: after
// that, the wire may be the body of another answer.
func (c *wire) Close() error {
	if c.body == nil {
		c.finish()
		return nil
	}
	c.body = nil
	c.drop()
	return nil
}

// finish puts the wire back after a whole answer, if it can be used again.
func (c *wire) finish() {
	if c.closes || c.reader.Buffered() > 0 || c.unhook != nil && !c.unhook() {
		_ = c.Conn.Close()
		return
	}
	c.ctx = nil
	c.pool.put(c)
}

// drop gives up the connection.
func (c *wire) drop() {
	if c.unhook != nil {
		c.unhook()
	}
	_ = c.Conn.Close()
}

// appendHead writes the head of the request. The server that has read it has checked
// that nothing in it can end a line.
func (o *outbound) appendHead(b []byte, s *server) []byte {
	b = append(b, o.method...)
	b = append(b, ' ')
	b = append(b, o.target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	if o.host == "" {
		b = append(b, s.authority...)
	} else {
		b = append(b, o.host...)
	}
	b = append(b, '\r', '\n')
	for name, lines := range o.request.Header {
		if name == "Content-Length" {
			continue // there is no body
		}
		for _, line := range lines {
			b = append(b, name...)
			b = append(b, ':', ' ')
			b = append(b, line...)
			b = append(b, '\r', '\n')
		}
	}
	return append(b, '\r', '\n')
}
