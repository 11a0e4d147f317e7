package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/config"
)

// spoken is a connection whose client says one text after the other.
type spoken struct {
	net.Conn
	says  []string
	heard strings.Builder
	fails bool // to write
}

func (s *spoken) Read(p []byte) (int, error) {
	if len(s.says) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.says[0])
	s.says = s.says[1:]
	return n, nil
}

func (s *spoken) Write(p []byte) (int, error) {
	if s.fails {
		return 0, io.ErrClosedPipe
	}
	return s.heard.Write(p)
}

func (s *spoken) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:1234"))
}

func (s *spoken) SetWriteDeadline(time.Time) error { return nil }

// ahead returns a connection after a request that was refused, of a gateway whose only rule
// admits nothing.
func ahead(t *testing.T, r rule.Rule, says ...string) (*conn, *spoken) {
	t.Helper()
	r.Name, r.Key = "all", []string{"ip"}
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{r}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	now := time.Unix(1_700_000_000, 0)
	g, err := New(config.GatewayDefaults(), Options{
		Engine: e, Metrics: NewMetrics(prometheus.NewRegistry()), Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &spoken{says: says}
	c := &conn{Conn: s, gateway: g, most: serverBuffer}
	c.refused(now)
	return c, s
}

func limit(text string) rule.Rule {
	return rule.Rule{Limits: []rule.Limit{{Limit: sluice.MustParse(text)}}}
}

const asks = "GET /path?q=1 HTTP/1.1\r\nHost: x\r\n\r\n"

// A client that is refused again and again hears what the server would have said, and the
// server sees nothing of it.
func TestRefusedAheadOfTheServer(t *testing.T) {
	c, s := ahead(t, limit("0/s"), asks, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", asks)
	if n, err := c.Read(make([]byte, serverBuffer)); n != 0 || err != io.EOF {
		t.Fatalf("the server gets %d bytes, %v", n, err)
	}
	answers := strings.SplitAfter(s.heard.String(), "HTTP/1.1 ")
	if len(answers) != 4 {
		t.Fatalf("%d answers: %q", len(answers)-1, s.heard.String())
	}
	for i, want := range []bool{true, false, true} {
		head, body, _ := strings.Cut(strings.TrimSuffix(answers[i+1], "HTTP/1.1 "), "\r\n\r\n")
		if !strings.HasPrefix(head, "429 Too Many Requests\r\nCache-Control: no-store\r\nContent-Length: ") ||
			!strings.HasSuffix(head, "\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT") || strings.HasPrefix(body, `{"type":`) != want || want == (body == "") {
			t.Errorf("answer %d: %q, %q", i, head, body)
		}
	}
}

// Whatever is not plain goes to the server as it has come, and so does all that follows.
func TestNotAheadOfTheServer(t *testing.T) {
	for name, text := range map[string]string{
		"body":            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok",
		"method":          "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET with length": "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\r\n\r\n",
		"chunks":          "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two":             asks + asks,
		"a half":          asks[:20],
		"one and a half":  asks + asks[:20],
		"bare line ends":  "GET / HTTP/1.1\nHost: x\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"upgrade":         "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
		"expect":          "GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
		"old":             "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
		"last":            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"no host":         "GET / HTTP/1.1\r\n\r\n",
		"space in a name": "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n",
		"no name of host": "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
		"host in target":  "GET http://x/ HTTP/1.1\r\n\r\n",
		"version":         "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
		"nonsense":        "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
	} {
		c, s := ahead(t, limit("0/s"), text, asks)
		buffer := make([]byte, serverBuffer)
		for _, want := range []string{text, asks} {
			if n, err := c.Read(buffer); string(buffer[:n]) != want || err != nil {
				t.Errorf("%s: the server gets %q, %v", name, buffer[:n], err)
			}
		}
		if s.heard.Len() > 0 || c.passed != nil || !c.begun.Load() {
			t.Errorf("%s: %q", name, s.heard.String())
		}
	}
}

// The state of the connection says when nothing may be answered.
func TestWhenNotAheadOfTheServer(t *testing.T) {
	wait := limit("0/s")
	wait.Wait = rule.Duration(time.Second)
	for name, change := range map[string]func(c *conn) int{
		"the server has a part": func(*conn) int { return serverBuffer - 1 },
		"larger buffer":         func(c *conn) int { c.most++; return serverBuffer },
		"handler at work":       func(c *conn) int { c.serving = true; return serverBuffer },
		"HTTP/2":                func(c *conn) int { c.blind = true; return serverBuffer },
		"not refused before":    func(c *conn) int { c.denied = false; return serverBuffer },
		"long ago":              func(c *conn) int { c.until = c.gateway.options.Now(); return serverBuffer },
		"shutdown":              func(c *conn) int { c.gateway.ending.Store(true); return serverBuffer },
	} {
		c, s := ahead(t, limit("0/s"), asks)
		if n, _ := c.Read(make([]byte, change(c))); n != len(asks) || s.heard.Len() > 0 {
			t.Errorf("%s: %d bytes for the server, %q for the client", name, n, s.heard.String())
		}
	}
	c, s := ahead(t, wait, asks)
	if n, _ := c.Read(make([]byte, serverBuffer)); n != len(asks) || s.heard.Len() > 0 {
		t.Errorf("a rule with wait: %d bytes for the server, %q for the client", n, s.heard.String())
	}
	c, s = ahead(t, limit("0/s"), asks)
	if s.fails = true; true {
		if n, err := c.Read(make([]byte, serverBuffer)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a client that is gone: %d, %v", n, err)
		}
	}
}

// A client that does not take its answer cannot keep the gateway from its end: until then
// it would accept others, only to cut them off when the time is over.
func TestStuckClientDoesNotHoldTheEnd(t *testing.T) {
	c, _ := ahead(t, limit("0/s"))
	synctest.Test(t, func(t *testing.T) {
		c.gateway.answering.Add(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := c.gateway.Shutdown(ctx); err != nil || time.Since(began) > 2*aheadFor {
			t.Errorf("it ends after %v: %v", time.Since(began), err)
		}
	})
}

// What passes goes to the server, together with what the rules have said.
func TestPassedAheadOfTheServer(t *testing.T) {
	c, _ := ahead(t, limit("5/h"), asks)
	if n, err := c.Read(make([]byte, serverBuffer)); n != len(asks) || err != nil {
		t.Fatal(n, err)
	}
	if x := c.passed; x == nil || !x.decided || !x.allowed || x.told.Get("RateLimit") != `"all";r=4;t=720` {
		t.Fatalf("%+v", c.passed)
	}
	if x := c.handled(&http.Request{ProtoMajor: 1}); x == nil || c.passed != nil || !c.serving {
		t.Error("a handler does not get it, or not once")
	}
}

// A client that leaves, or is reset, before its request was whole has sent one; one that
// was idle, or whose request a handler got, has not.
func TestLeftAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		does func(c *conn)
		want float64
	}{
		"in the middle": {func(c *conn) {
			_, _ = c.Read(make([]byte, 14))
			_, _ = c.Read(make([]byte, 14)) // which is the end
		}, 1},
		"idle": {func(c *conn) {}, 0},
		"handled": {func(c *conn) {
			_, _ = c.Read(make([]byte, 14))
			c.handled(&http.Request{ProtoMajor: 1})
		}, 0},
		"TLS, in the middle": {func(c *conn) { c.blind = true; c.gateway.changed(c, http.StateActive) }, 1},
		"TLS, idle": {func(c *conn) {
			c.blind = true
			c.gateway.changed(c, http.StateActive)
			c.gateway.changed(c, http.StateIdle)
		}, 0},
	} {
		conn, _ := ahead(t, limit("0/s"), asks[:14])
		c.does(conn)
		conn.gateway.changed(conn, http.StateClosed)
		if n := testutil.ToFloat64(conn.gateway.options.Metrics.rejects.WithLabelValues("none")); n != c.want {
			t.Errorf("%s: %v counted, want %v", name, n, c.want)
		}
	}
}
