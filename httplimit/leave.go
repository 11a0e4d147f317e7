package httplimit

import (
	"context"
	"io"
	"net/http"

	"github.com/sluice-limiter/sluice/engine"
)

// leaveAfter lets a call leave when its answer is over: read to the end or closed, or its
// context has ended. A connection that has changed its protocol stays writable.
func leaveAfter(ctx context.Context, res *http.Response, in engine.Entry) {
	if res.Body == nil || res.Body == http.NoBody {
		in.Leave()
		return
	}
	stop := context.AfterFunc(ctx, in.Leave)
	body := &heldBody{ReadCloser: res.Body, leave: func() {
		stop()
		in.Leave()
	}}
	if res.Body = body; res.StatusCode == http.StatusSwitchingProtocols {
		if both, ok := body.ReadCloser.(io.ReadWriteCloser); ok {
			res.Body = &heldConn{heldBody: body, Writer: both}
		}
	}
}

// heldBody is the body of an answer to a call that holds something.
type heldBody struct {
	io.ReadCloser
	leave func() // may be called again
}

// Read implements io.Reader.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.leave()
	}
	return n, err
}

// Close implements io.Closer.
func (b *heldBody) Close() error {
	defer b.leave()
	return b.ReadCloser.Close()
}

// heldConn is a connection that has changed its protocol.
type heldConn struct {
	*heldBody
	io.Writer
}

// Read implements io.Reader. That one side has ended is not the end of a connection.
func (c *heldConn) Read(p []byte) (int, error) { return c.ReadCloser.Read(p) }
