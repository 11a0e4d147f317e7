package gateway

import (
	"bufio"
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// Who is refused mostly asks again at once, over the same connection. Such requests are
// answered ahead of the server, for whom each would cost a goroutine, four deadlines and a
// sorted header: more than all that we do. It is done only where nothing can go wrong:
// between two requests, for one that has come as a whole, has no body, is read by the same
// code as the server's, and is none that the server would reject. All others go to the
// server, with what the rules have said.

// aheadFor is for how long the server is not asked. It gives the next request the whole
// time to come, and the next answer the whole time to be taken.
const aheadFor = time.Second

// refused takes note of a request that was refused, for the next one.
func (c *conn) refused(now time.Time) {
	t := &c.gateway.config.Timeouts
	c.denied, c.armed, c.until = !c.blind, false, now.Add(min(aheadFor, time.Duration(t.Write)/2, time.Duration(t.Idle)/2))
}

// refuse decides on what has come, and reports whether it has answered it.
func (c *conn) refuse(head []byte) (bool, error) {
	g := c.gateway
	began := g.options.Now()
	if !began.Before(c.until) || !g.decidesAtOnce() {
		return false, nil
	}
	a := answers.Get().(*ownAnswer)
	defer a.free()
	r := a.read(head)
	if r == nil {
		return false, nil
	}
	g.answering.Add(1)
	defer g.answering.Add(-1)
	if g.ending.Load() {
		return false, nil
	}
	if c.address == "" {
		c.address = c.RemoteAddr().String()
	}
	r.RemoteAddr = c.address
	x := g.begin(a, r, began)
	x.ahead = true
	g.rules.ServeHTTP(x, r)
	if x.ahead = false; x.status == 0 {
		c.passed = x
		x.told = a.take()
		return false, nil
	}
	if !c.armed { // the server takes it away after every answer
		_ = c.Conn.SetWriteDeadline(c.until.Add(time.Duration(g.config.Timeouts.Write)))
		c.armed = true
	}
	_, err := c.Conn.Write(a.write(x))
	x.end(false)
	return true, err
}

// decidesAtOnce reports whether no rule lets requests wait, none has a cost that the
// answer tells, and none counts who is in flight: for all of them the server is needed.
func (g *Gateway) decidesAtOnce() bool {
	set := g.options.Engine.Set()
	known := g.atOnce.Load()
	if known == nil || known.set != set {
		known = &atOnce{set, !set.HasConcurrency() && !slices.ContainsFunc(set.Rules(), func(c *rule.Compiled) bool { return c.Wait > 0 || c.Cost.Response != "" })}
		g.atOnce.Store(known)
	}
	return known.holds
}

type atOnce struct {
	set   *rule.Set
	holds bool
}

// ownAnswer is an answer that is written ahead of the server, and the request to it.
type ownAnswer struct {
	from   bytes.Reader
	reader *bufio.Reader
	header http.Header
	names  []string
	body   []byte
	text   []byte
}

var answers = sync.Pool{New: func() any {
	a := &ownAnswer{header: http.Header{}}
	a.reader = bufio.NewReader(&a.from)
	return a
}}

func (a *ownAnswer) free() {
	clear(a.header)
	a.body = a.body[:0]
	a.from.Reset(nil)
	answers.Put(a)
}

// take gives the header away.
func (a *ownAnswer) take() http.Header {
	header := a.header
	a.header = http.Header{}
	return header
}

// read returns the request that the bytes are, or nil if they are not just one, or one of
// which there is more to say than yes or no.
func (a *ownAnswer) read(head []byte) *http.Request {
	if !bytes.HasPrefix(head, []byte("GET ")) && !bytes.HasPrefix(head, []byte("HEAD ")) || !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		return nil
	}
	a.from.Reset(head)
	a.reader.Reset(&a.from)
	r, err := http.ReadRequest(a.reader)
	if err != nil || a.reader.Buffered() > 0 || a.from.Len() > 0 {
		return nil
	}
	h := r.Header
	if r.ContentLength != 0 || r.Body != http.NoBody || r.Close || rejects(r) ||
		len(h["Transfer-Encoding"])+len(h["Upgrade"])+len(h["Expect"])+len(h["Trailer"]) > 0 {
		return nil
	}
	return r
}

// rejects reports whether the server may reject a request that it could read: it looks at
// the version, at Host, which is gone when a target names the host, and at the names of
// fields. "Transfer-Encoding : chunked" is one for it, and another for a proxy before us.
func rejects(r *http.Request) bool {
	if r.Proto != "HTTP/1.1" || r.RequestURI[0] != '/' || r.Host == "" || strings.ContainsAny(r.Host, notInHost) ||
		strings.ContainsFunc(r.Host, func(c rune) bool { return c > '~' }) {
		return true
	}
	for name := range r.Header {
		if strings.Contains(name, " ") {
			return true
		}
	}
	return false
}

// Header implements http.ResponseWriter.
func (a *ownAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter: the exchange knows the status.
func (a *ownAnswer) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (a *ownAnswer) Write(p []byte) (int, error) {
	a.body = append(a.body, p...)
	return len(p), nil
}

// write puts the answer together, as the server would.
func (a *ownAnswer) write(x *exchange) []byte {
	b := append(a.text[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(x.status)...)
	b = append(b, '\r', '\n')
	a.names = a.names[:0]
	for name := range a.header {
		a.names = append(a.names, name)
	}
	slices.Sort(a.names)
	for _, name := range a.names {
		for _, line := range a.header[name] {
			b = appendField(b, name, line)
		}
	}
	if len(a.header["Content-Length"]) == 0 {
		b = appendField(b, "Content-Length", strconv.Itoa(len(a.body)))
	}
	b = append(b, "Date: "...)
	b = x.began.UTC().AppendFormat(b, http.TimeFormat)
	b = append(b, "\r\n\r\n"...)
	a.text = append(b, a.body...)
	return a.text
}

// appendField writes a line of a header. Nothing in it can end the line.
func appendField(b []byte, name, line string) []byte {
	b = append(b, name...)
	b = append(b, ':', ' ')
	for i := range len(line) {
		c := line[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		b = append(b, c)
	}
	return append(b, '\r', '\n')
}
