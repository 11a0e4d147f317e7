package gateway

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// roundTrip sends any request, by the transport of the standard library.
func (s *server) roundTrip(o *outbound, w http.ResponseWriter) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(o.request.Context())
	watch := newWatchdog(time.Duration(s.timeouts.Idle), cancel)
	hear := &hearing{of: o.exchange, to: w}
	trace := &httptrace.ClientTrace{GotConn: hear.connect, GotFirstResponseByte: hear.first, Got1xxResponse: hear.early}
	res, err := s.transport.RoundTrip(o.outgoing(httptrace.WithClientTrace(ctx, trace), s, watch))
	hear.end()
	if err == nil && res.StatusCode < 100 {
		watch.stop()
		cancel(nil)
		_ = res.Body.Close()
		return nil, &failure{garbled, errStatus}
	}
	if err == nil {
		if rw, ok := res.Body.(io.ReadWriteCloser); ok {
			watch.stop() // a tunnel has its own
			res.Body = &tunnelBody{rw, cancel}
		} else {
			res.Body = &watched{res.Body, watch, cancel}
		}
		return res, nil
	}
	watch.stop()
	late := errors.Is(context.Cause(ctx), errIdle)
	cancel(nil)
	switch {
	case late:
		return nil, &failure{tooLate, errIdle}
	case !hear.connected:
		return nil, &failure{notSent, err}
	}
	if f := failed(noAnswer, err); f.kind == tooLate || !hear.began() {
		return nil, f
	}
	return nil, &failure{garbled, err}
}

// outgoing is the request for the transport.
func (o *outbound) outgoing(ctx context.Context, s *server, watch *watchdog) *http.Request {
	r := o.request
	at := &url.URL{Scheme: s.scheme, Host: s.authority, Opaque: o.target}
	if strings.HasPrefix(o.target, "//") { // Opaque would be taken for a host
		path, query, found := strings.Cut(o.target, "?")
		plain, err := url.PathUnescape(path)
		if err != nil {
			plain = path // cannot be: the server has read it so
		}
		at.Opaque, at.Path, at.RawPath, at.RawQuery, at.ForceQuery = "", plain, path, query, found && query == ""
	}
	out := &http.Request{
		Method: r.Method, URL: at, Host: o.host, Header: r.Header, Trailer: o.trailer(), ContentLength: r.ContentLength,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if o.host == "" {
		out.Host = s.authority
	}
	if r.ContentLength != 0 {
		out.Body = &upload{o.exchange, watch, out.Trailer}
	}
	return out.WithContext(ctx)
}

// hearing is told by the transport, in goroutines of its own, how a request fares.
type hearing struct {
	of        *exchange
	mu        sync.Mutex // guards all below
	to        http.ResponseWriter
	over      bool // whatever comes now is too late
	connected bool
	answering bool // the first byte of an answer is there
	earlies   int  // answers before the answer
}

func (h *hearing) connect(httptrace.GotConnInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connected = true
}

func (h *hearing) first() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answering = true
}

// began reports whether something of an answer has come.
func (h *hearing) began() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answering
}

func (h *hearing) early(code int, header textproto.MIMEHeader) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.earlies++; h.earlies > maxEarly {
		return errUnasked
	}
	if !h.over && code != http.StatusContinue { // which our server sends by itself
		h.of.early(h.to, code, http.Header(header))
	}
	return nil
}

func (h *hearing) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// early passes an answer on that comes before the answer, such as 103. A client of
// HTTP/1.0 would take it for the answer. To one that waits for 100 our server may write
// that at the same moment, in the goroutine that reads the body: it gets nothing else.
func (x *exchange) early(w http.ResponseWriter, code int, header http.Header) {
	if r := x.request; !r.ProtoAtLeast(1, 1) || r.ProtoMajor == 1 && len(r.Header["Expect"]) > 0 {
		return
	}
	removeHopByHop(header)
	h := w.Header()
	before := maps.Clone(h)
	maps.Copy(h, header)
	x.extend()
	w.WriteHeader(code)
	clear(h)
	maps.Copy(h, before)
}

var errIdle = errors.New("nothing was sent or received for too long")

// watchdog cancels a request over which nothing moves.
type watchdog struct {
	timer   *time.Timer
	after   time.Duration
	stopped atomic.Bool
}

func newWatchdog(after time.Duration, cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{timer: time.AfterFunc(after, func() { cancel(errIdle) }), after: after}
}

func (w *watchdog) alive() {
	if !w.stopped.Load() {
		w.timer.Reset(w.after)
	}
}

func (w *watchdog) stop() {
	w.stopped.Store(true)
	w.timer.Stop()
}

// watched is the body of an answer.
type watched struct {
	io.ReadCloser
	watch  *watchdog
	cancel context.CancelCauseFunc
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.alive()
	return n, err
}

func (b *watched) Close() error {
	b.watch.stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// tunnelBody is the connection to a server that has changed the protocol.
type tunnelBody struct {
	io.ReadWriteCloser
	cancel context.CancelCauseFunc
}

func (b *tunnelBody) Close() error {
	b.cancel(nil)
	return b.ReadWriteCloser.Close()
}
