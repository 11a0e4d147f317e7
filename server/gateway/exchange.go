package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// exchange is a request with its answer: what is written goes through it, and the body
// of the request is read through it. So it is found again wherever the request is, without
// a context of its own.
type exchange struct {
	http.ResponseWriter
	gateway *Gateway
	request *http.Request
	body    io.ReadCloser // as the server has made it
	began   time.Time
	peer    netip.Addr  // at the other end of the connection
	client  netip.Addr  // as the rules see it
	trusted bool        // it is one of our proxies
	gone    bool        // the client has left before we began
	conn    *conn       // may be nil
	ahead   bool        // the rules are asked before the server has read the request
	told    http.Header // by the rules, if they were asked so; nil if not

	method, host, path, query, agent, user string // for the log: the request changes on its way

	decided bool // the rules have said something
	allowed bool
	shadow  bool
	reason  sluice.Reason
	rule    *rule.Compiled // that bound

	status   int
	sent     int64 // bytes of the answer's body
	extended time.Duration

	// Of the request's body, which another goroutine may still read when all is over.
	received atomic.Int64            // bytes
	paused   time.Duration           // when the last of it was read, since began
	held     time.Duration           // for how long nobody read it: the client is not slow then
	finished atomic.Bool             // it was read to its end
	wrong    atomic.Pointer[problem] // why it will not be
	duplex   bool                    // the answer may begin before that
	using    sync.Mutex              // guards over, and the writer while a deadline is set
	over     bool                    // the writer is not ours any more

	named    []string // lines of Connection
	upstream string   // server that answered, or was asked last
	failure  string   // what went wrong with it, as a word
}

// ServeHTTP answers a request. It panics with http.ErrAbortHandler if an answer that has
// begun cannot be brought to its end, so that the client does not take a part for the whole.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := connOf(r)
	if c != nil {
		if x := c.handled(r); x != nil {
			x.goOn(c, w, r)
			return
		}
	}
	gone := r.Context().Err() != nil
	if gone { // a stream that was reset at once is decided and counted as every other
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	x := g.begin(w, r, g.options.Now())
	x.gone, x.conn = gone, c
	hasBody := r.ContentLength != 0
	if hasBody && r.ProtoMajor == 1 { // of one that is refused, the server reads the rest
		x.deadline(0)
	}
	defer x.end(hasBody)
	g.rules.ServeHTTP(x, r)
}

// begin makes the exchange of a request, and puts it where the request is.
func (g *Gateway) begin(w http.ResponseWriter, r *http.Request, now time.Time) *exchange {
	x := g.pool.Get().(*exchange)
	peer := g.peer(r)
	*x = exchange{
		ResponseWriter: w, gateway: g, request: r, body: r.Body, began: now, peer: peer, trusted: g.trusts(peer),
		method: r.Method, host: r.Host, query: r.URL.RawQuery, path: r.URL.EscapedPath(),
	}
	x.client = peer
	if x.trusted {
		x.client = g.client(r)
	}
	r.Body = x
	return x
}

// goOn is for a request that the rules have let pass before the server had read it.
func (x *exchange) goOn(c *conn, w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), x.told)
	x.ResponseWriter, x.request, x.body, x.conn = w, r, r.Body, c
	r.Body = x
	defer x.end(false)
	x.gateway.forward(x, r)
}

// end tells of the exchange when it is over. The server gets its body back: it looks at
// that to find out whether the connection can be used again.
func (x *exchange) end(hasBody bool) {
	g := x.gateway
	x.request.Body = x.body
	took := time.Since(x.began)
	g.options.Metrics.done(x, took)
	if g.log != nil {
		x.agent = x.request.UserAgent()
		g.log.write(x, took)
	}
	if x.conn != nil && x.decided && !x.allowed && x.request.ProtoMajor == 1 {
		x.conn.refused(x.began.Add(took))
	}
	if !hasBody { // a body may still be read by who sends it on
		*x = exchange{}
		g.pool.Put(x)
		return
	}
	x.using.Lock()
	defer x.using.Unlock()
	x.over = true
}

// exchangeOf returns the exchange of a request that ServeHTTP got.
func exchangeOf(r *http.Request) *exchange { return r.Body.(*exchange) }

// decided takes note of what the rules say.
func decided(r *http.Request, d engine.Decision) {
	x := exchangeOf(r)
	x.decided, x.allowed, x.shadow, x.reason, x.rule = true, d.Allowed, d.Shadow, d.Reason, d.Rule
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		x.status = status
	}
	if x.duplex && !x.finished.Load() && status >= 200 {
		x.Header()["Connection"] = []string{"close"} // nobody can tell where the next request begins
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.sent += int64(n)
	return n, err
}

// errBodyWrong is for whoever sends the body on: what is wrong is the client's doing.
var errBodyWrong = errors.New("the body of the request cannot be read to its end")

// Read reads the body of the request, as long as that is neither too long nor too slow.
func (x *exchange) Read(p []byte) (int, error) {
	if x.finished.Load() {
		return 0, io.EOF
	}
	if x.wrong.Load() != nil {
		return 0, errBodyWrong
	}
	now := time.Since(x.began)
	x.held += now - x.paused
	x.deadline(now)
	n, err := x.body.Read(p)
	x.paused = time.Since(x.began)
	received := x.received.Add(int64(n))
	var late net.Error
	switch {
	case received > int64(x.gateway.config.Limits.Body):
		x.wrong.Store(errTooLarge)
		return 0, errBodyWrong
	case err == nil:
		return n, nil
	case err == io.EOF:
		x.finished.Store(true)
		x.setReadDeadline(time.Time{}) // else the server would take the client for gone
		return n, io.EOF
	case errors.As(err, &late) && late.Timeout():
		x.wrong.Store(errTooSlow)
	default:
		x.wrong.Store(errMalformed)
	}
	return n, errBodyWrong
}

// Close does nothing: the server closes the body, and a request that was not sent can be
// sent to another upstream.
func (x *exchange) Close() error { return nil }

// deadline gives the body time for its next part: as much as all so far may take.
func (x *exchange) deadline(now time.Duration) {
	c := &x.gateway.config
	due := x.held + time.Duration(c.Timeouts.Body)
	if c.Limits.MinRate > 0 {
		due += time.Duration(float64(x.received.Load()) / float64(c.Limits.MinRate) * float64(time.Second))
	}
	// Who was quick for a long time may not be silent for just as long.
	due = min(due, now+2*time.Duration(c.Timeouts.Body))
	x.setReadDeadline(x.began.Add(due))
}

// setReadDeadline does nothing when the exchange is over: the writer of HTTP/2 panics then.
func (x *exchange) setReadDeadline(t time.Time) {
	x.using.Lock()
	defer x.using.Unlock()
	if x.over {
		return
	}
	_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(t) // not every writer has one
}

// extend gives the client time to take the next part of the answer.
func (x *exchange) extend() {
	since := time.Since(x.began)
	write := time.Duration(x.gateway.config.Timeouts.Write)
	if since-x.extended < min(extendAfter, write/2) {
		return // the last one is good for much longer
	}
	x.extended = since
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(x.began.Add(since + write))
}

// extendAfter is how often the time for writing is looked at.
const extendAfter = time.Second

// hijack takes the connection over.
func (x *exchange) hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(x.ResponseWriter).Hijack()
}
