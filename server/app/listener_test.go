package app_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

// caller is a client with one connection.
type caller struct {
	t *testing.T
	net.Conn
	answers *bufio.Reader
}

func (r *running) call() *caller {
	r.t.Helper()
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return &caller{r.t, c, bufio.NewReader(c)}
}

// encrypt goes on in TLS.
func (c *caller) encrypt() *caller {
	secured := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	return &caller{c.t, secured, bufio.NewReader(secured)}
}

const token = "the-only-token-of-all"

// ask sends a request with a token.
func (c *caller) ask(path, token string) {
	c.t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hears wants an answer with this status.
func (c *caller) hears(status int) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != status {
		c.t.Fatalf("%s, %v; want %d", answer.Status, err, status)
	}
}

// silent reports whether nothing comes for a while.
func (c *caller) silent() bool {
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, err := c.answers.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// cut wants the connection to be closed by the server.
func (c *caller) cut() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, c.answers); errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatal("it is still open")
	}
}

// withToken starts a server that wants one, on a loopback address.
func withToken(t *testing.T, flags map[string]string) *running {
	t.Helper()
	flags["tokens.env"] = "TOKENS"
	return start(t, config.Sources{Flags: flags, Env: func(name string) (string, bool) { return token, name == "TOKENS" }})
}

// Who has not shown a token gives way to who comes later, whatever it does.
func TestStrangersGiveWay(t *testing.T) {
	r := withToken(t, map[string]string{"limits.connections": "3"})
	if got := r.Server().IdleTimeout; got != 30*time.Second {
		t.Errorf("who asks nothing keeps a place for %v", got)
	}
	known := r.call()
	known.ask("/v1/rules", token)
	known.hears(200)
	nothing := r.call()
	healthy := r.call()
	healthy.ask("/healthz", "")
	healthy.hears(200)
	wrong := r.call()
	wrong.ask("/v1/rules", "not-the-token-of-all")
	wrong.hears(401)
	nothing.cut() // for wrong
	half := r.call()
	if _, err := io.WriteString(half, "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	healthy.cut() // for half
	second := r.call()
	second.ask("/v1/rules", token)
	second.hears(200)
	wrong.cut() // for second
	third := r.call()
	third.ask("/v1/rules", token)
	third.hears(200)
	half.cut() // for third
	for _, c := range []*caller{known, second, third} {
		c.ask("/v1/rules", token)
		c.hears(200)
	}
}

// If all connections may ask, more wait.
func TestConnectionsAreLimited(t *testing.T) {
	r := withToken(t, map[string]string{"limits.connections": "1"})
	first := r.call()
	first.ask("/v1/rules", token)
	first.hears(200)
	second := r.call()
	second.ask("/v1/rules", token)
	if !second.silent() {
		t.Fatal("there are two connections")
	}
	first.ask("/v1/rules", token)
	first.hears(200)
	_ = first.Close()
	second.hears(200)
	_ = r.call() // it waits when the server ends
}

// A token counts in TLS too.
func TestConnectionsAreKeptInTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	writePair(t, cert, key, "first")
	r := withToken(t, map[string]string{"limits.connections": "2", "tls.cert": cert, "tls.key": key})
	known := r.call().encrypt()
	known.ask("/v1/rules", token)
	known.hears(200)
	silent := r.call() // does not even begin with TLS
	stranger := r.call().encrypt()
	stranger.ask("/healthz", "")
	stranger.hears(200)
	silent.cut()
	another := r.call().encrypt()
	another.ask("/v1/rules", token)
	another.hears(200)
	stranger.cut()
	known.ask("/v1/rules", token)
	known.hears(200)
}

func TestConnectionsAndDescriptors(t *testing.T) {
	for _, c := range []struct {
		wanted, descriptors, want int
	}{
		{16384, 0, 16384}, {16384, 65536, 16384}, {16384, 16384, 14336}, {100, 100, 84}, {84, 100, 84}, {10, 10, 1},
	} {
		var log strings.Builder
		got := app.Connections(c.wanted, int64(c.descriptors), slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "LimitNOFILE"); got != c.want || warned != (got < c.wanted) {
			t.Errorf("%d of %d descriptors: %d, want %d; warned %v", c.wanted, c.descriptors, got, c.want, warned)
		}
	}
}
