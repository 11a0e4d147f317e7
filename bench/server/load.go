package server

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// round is what one round of load saw.
type round struct {
	requests  int
	errors    int
	took      time.Duration
	latencies []time.Duration // sorted
}

// rate is requests per second.
func (r *round) rate() float64 { return float64(r.requests) / r.took.Seconds() }

// quantile is the time that a share q of the requests did not exceed.
func (r *round) quantile(q float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	return r.latencies[min(int(q*float64(len(r.latencies))), len(r.latencies)-1)]
}

// load asks over so many connections, each with messages of its own, for a while.
func load(address string, messages [][]byte, connections int, length time.Duration) (*round, error) {
	callers := make([]*caller, connections)
	for i := range callers {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		callers[i] = &caller{conn: c, buffer: make([]byte, 256<<10)}
	}
	var over atomic.Bool
	defer time.AfterFunc(length, func() { over.Store(true) }).Stop()
	var all sync.WaitGroup
	begin := time.Now()
	for i, c := range callers {
		all.Go(func() {
			for n := i; !over.Load(); n += connections {
				c.ask(messages[n%len(messages)])
			}
		})
	}
	all.Wait()
	r := &round{took: time.Since(begin)}
	var first error
	for _, c := range callers {
		r.requests += len(c.latencies)
		r.latencies = append(r.latencies, c.latencies...)
		r.errors += c.errors
		if first == nil {
			first = c.first
		}
	}
	if r.requests == 0 {
		return nil, fmt.Errorf("nothing was answered: %w", first)
	}
	slices.Sort(r.latencies)
	return r, nil
}

// caller has one connection.
type caller struct {
	conn      net.Conn
	buffer    []byte
	latencies []time.Duration
	errors    int
	first     error // of the errors
}

// ask sends a message and waits for the answer. After an error it connects again.
func (c *caller) ask(message []byte) {
	begin := time.Now()
	_, err := c.conn.Write(message)
	if err == nil {
		err = c.decided()
	}
	if err == nil {
		c.latencies = append(c.latencies, time.Since(begin))
		return
	}
	c.errors++
	if c.first == nil {
		c.first = err
	}
	again, err := net.Dial("tcp", c.conn.RemoteAddr().String())
	if err == nil {
		_ = c.conn.Close()
		c.conn = again
	}
}

// decided wants an answer from the store that was meant.
func (c *caller) decided() error {
	body, err := c.answer()
	if err == nil && bytes.Contains(body, []byte(`"degraded":true`)) {
		err = fmt.Errorf("answer %.300q", body)
	}
	return err
}

// answer reads one answer with status 200 and returns its body.
func (c *caller) answer() ([]byte, error) {
	read, body, size := 0, 0, 0
	for body == 0 || read < body+size {
		n, err := c.conn.Read(c.buffer[read:])
		if err != nil {
			return nil, err
		}
		read += n
		if body > 0 {
			continue
		}
		if end := bytes.Index(c.buffer[:read], []byte("\r\n\r\n")); end >= 0 {
			body = end + 4
			if size, err = lengthOf(c.buffer[:end]); err != nil {
				return nil, err
			}
			if body+size > len(c.buffer) {
				return nil, fmt.Errorf("an answer of %d bytes", size)
			}
		}
	}
	return c.buffer[body : body+size], nil
}

// lengthOf reads the header of an answer.
func lengthOf(head []byte) (int, error) {
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("answer %.100q", head)
	}
	_, after, ok := bytes.Cut(head, []byte("\r\nContent-Length: "))
	if !ok {
		return 0, fmt.Errorf("no length: %.300q", head)
	}
	text, _, _ := bytes.Cut(after, []byte("\r\n"))
	return strconv.Atoi(string(text))
}

// sample returns the body of the answer to one message.
func sample(address string, message []byte) ([]byte, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Write(message); err != nil {
		return nil, err
	}
	return (&caller{conn: c, buffer: make([]byte, 256<<10)}).answer()
}
