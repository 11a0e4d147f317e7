package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tunnel connects client and server after both have changed the protocol, as for
// WebSockets, until one of them ends or nothing moves for too long.
func (o *outbound) tunnel(w http.ResponseWriter, res *http.Response) *problem {
	server, ok := res.Body.(io.ReadWriteCloser)
	if !ok || o.upgrade == "" || !strings.EqualFold(res.Header.Get("Upgrade"), o.upgrade) {
		_ = res.Body.Close()
		o.failure = garbled
		return errGarbled // nobody asked for that
	}
	defer server.Close()
	client, buffered, err := o.hijack()
	if err != nil {
		return errGarbled
	}
	defer client.Close()
	if !o.gateway.tunnels.add(client) {
		return nil
	}
	defer o.gateway.tunnels.remove(client)
	o.status = res.StatusCode
	h := w.Header()
	removeHopByHop(res.Header)
	for name, lines := range res.Header {
		h[name] = append(h[name], lines...)
	}
	h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{o.upgrade}
	res.Header, res.Body = h, nil
	idle := time.Duration(o.route.upstream.settings.Timeouts.Idle)
	_ = client.SetDeadline(o.began.Add(time.Since(o.began) + idle))
	if err := errors.Join(res.Write(buffered), buffered.Flush()); err != nil {
		return nil // the client is gone
	}
	o.join(client, buffered.Reader, server, idle)
	return nil
}

// join copies in both directions until one of them ends.
func (o *outbound) join(client net.Conn, fromClient io.Reader, server io.ReadWriteCloser, idle time.Duration) {
	// Whatever moves gives both time. A server that takes nothing has no deadline: it is
	// closed.
	late := time.AfterFunc(idle, func() { _ = server.Close() })
	defer late.Stop()
	alive := func() {
		_ = client.SetDeadline(o.began.Add(time.Since(o.began) + idle))
		late.Reset(idle)
	}
	var sent int64
	var both sync.WaitGroup
	both.Go(func() {
		sent = pump(client, server, alive)
		_ = client.SetReadDeadline(time.Unix(1, 0)) // the other direction has no purpose any more
	})
	pump(server, fromClient, alive)
	_ = server.Close()
	both.Wait()
	o.sent = sent
}

// pump copies until an end or an error, which here are the same.
func pump(to io.Writer, from io.Reader, alive func()) (copied int64) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := from.Read(buffer[:])
		if n > 0 {
			alive()
			if _, err := to.Write(buffer[:n]); err != nil {
				return copied
			}
			copied += int64(n)
		}
		if err != nil {
			return copied
		}
	}
}

// tunnels are all that are open: the server does not know them any more.
type tunnels struct {
	mu     sync.Mutex // guards all below
	open   map[net.Conn]struct{}
	ending bool
	empty  chan struct{} // closed when the last is gone, if somebody waits
}

// add reports whether one more may be opened.
func (t *tunnels) add(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending {
		return false
	}
	if t.open == nil {
		t.open = map[net.Conn]struct{}{}
	}
	t.open[c] = struct{}{}
	return true
}

func (t *tunnels) remove(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, c)
	if len(t.open) == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
}

// wait returns when all are gone, or with the error of ctx.
func (t *tunnels) wait(ctx context.Context) error {
	t.mu.Lock()
	t.ending = true
	if len(t.open) == 0 {
		t.mu.Unlock()
		return nil
	}
	empty := make(chan struct{})
	t.empty = empty
	t.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cut ends those that are left.
func (t *tunnels) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.open {
		_ = c.Close()
	}
}
