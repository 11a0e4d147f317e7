package sluicegin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-limiter/sluice"
	sluicegin "github.com/sluice-limiter/sluice/contrib/gin"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

func init() { gin.SetMode(gin.TestMode) }

// newRouter returns a router that answers everything with "hello", behind limits.
func newRouter(limits ...gin.HandlerFunc) *gin.Engine {
	r := gin.New()
	r.Use(limits...)
	r.GET("/hello/:name", func(c *gin.Context) { c.String(http.StatusOK, "hello "+c.Param("name")) })
	return r
}

func get(h http.Handler, path, from string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = from
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func wantStatus(t testing.TB, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Fatalf("status %d, want %d: %s", w.Code, want, w.Body)
	}
}

func TestByIP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var statuses []int
		seen := func(c *gin.Context) {
			c.Next()
			statuses = append(statuses, c.Writer.Status())
		}
		behind := 0
		r := newRouter(seen, sluicegin.ByIP(sluice.PerMinute(2)), func(*gin.Context) { behind++ })
		for range 2 {
			w := get(r, "/hello/ann", "192.0.2.1:4711")
			wantStatus(t, w, http.StatusOK)
			if w.Body.String() != "hello ann" || w.Header().Get("RateLimit") == "" {
				t.Errorf("body %q, header %v", w.Body, w.Header())
			}
		}
		w := get(r, "/hello/ann", "192.0.2.1:4712")
		wantStatus(t, w, http.StatusTooManyRequests)
		if w.Header().Get("Retry-After") != "30" || w.Header().Get("Content-Type") != "application/problem+json" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("header %v, body %s", w.Header(), w.Body)
		}
		wantStatus(t, get(r, "/hello/ann", "192.0.2.2:4711"), http.StatusOK)
		if behind != 3 {
			t.Errorf("%d requests went on, want 3", behind)
		}
		if want := []int{200, 200, 429, 200}; !slices.Equal(statuses, want) {
			t.Errorf("the middleware before it saw %v, want %v", statuses, want)
		}
		time.Sleep(30 * time.Second)
		wantStatus(t, get(r, "/hello/ann", "192.0.2.1:4711"), http.StatusOK)
	})
}

// gin's ClientIP believes this header from everybody; the limit does not.
func TestForwardedForIsNoWayRound(t *testing.T) {
	r := newRouter(sluicegin.ByIP(sluice.PerHour(1)))
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.1"), http.StatusOK)
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.2"), http.StatusTooManyRequests)
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Real-IP", "198.51.100.3"), http.StatusTooManyRequests)

	r = newRouter(sluicegin.ByIP(sluice.PerHour(1), httplimit.TrustProxies(netip.MustParsePrefix("192.0.2.0/24"))))
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.1"), http.StatusOK)
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.2"), http.StatusOK)
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.2"), http.StatusTooManyRequests)
}

// Keys come from what gin and the handlers before know.
func TestKeyBy(t *testing.T) {
	byName := sluicegin.KeyBy(func(c *gin.Context) (string, error) {
		if c.Param("name") == "nobody" {
			return "", errors.New("no name")
		}
		return c.GetString("tenant") + "/" + c.Param("name"), nil
	})
	tenant := func(c *gin.Context) { c.Set("tenant", c.GetHeader("Tenant")) }
	r := newRouter(tenant, sluicegin.Middleware(sluice.NewKeyed(sluice.PerHour(1)), byName))
	for _, path := range []string{"/hello/ann", "/hello/bob"} {
		wantStatus(t, get(r, path, "192.0.2.1:1", "Tenant", "a"), http.StatusOK)
		wantStatus(t, get(r, path, "192.0.2.2:1", "Tenant", "a"), http.StatusTooManyRequests)
		wantStatus(t, get(r, path, "192.0.2.2:1", "Tenant", "b"), http.StatusOK)
	}
	wantStatus(t, get(r, "/hello/nobody", "192.0.2.1:1"), http.StatusBadRequest)
}

func TestDenied(t *testing.T) {
	r := newRouter(sluicegin.ByIP(sluice.PerSecond(0), sluicegin.Denied(func(c *gin.Context, d engine.Decision) {
		c.JSON(httplimit.Status(d.Decision), gin.H{"reason": d.Reason.String()})
	})))
	w := get(r, "/hello/ann", "192.0.2.1:1")
	wantStatus(t, w, http.StatusTooManyRequests)
	if w.Body.String() != `{"reason":"banned"}` {
		t.Errorf("body %s", w.Body)
	}
}

func newEngine(t testing.TB, rules ...rule.Rule) *engine.Engine {
	t.Helper()
	set, err := rule.Compile(rule.Config{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestRules(t *testing.T) {
	e := newEngine(t, rule.Rule{
		Name: "hello", Match: rule.Match{Methods: []string{"GET"}, Paths: []string{"/hello/{name}"}},
		Key: []string{"user", "path:name"}, Limits: []rule.Limit{{Limit: sluice.PerHour(1)}},
	})
	login := func(c *gin.Context) { c.Set(gin.AuthUserKey, c.GetHeader("Test-User")) }
	r := newRouter(login, sluicegin.Rules(e, sluicegin.User(func(c *gin.Context) string { return c.GetString(gin.AuthUserKey) })))
	wantStatus(t, get(r, "/hello/x", "192.0.2.1:1", "Test-User", "ann"), http.StatusOK)
	wantStatus(t, get(r, "/hello/x", "192.0.2.9:1", "Test-User", "ann"), http.StatusTooManyRequests)
	wantStatus(t, get(r, "/hello/y", "192.0.2.9:1", "Test-User", "ann"), http.StatusOK)
	wantStatus(t, get(r, "/hello/x", "192.0.2.1:1", "Test-User", "bob"), http.StatusOK)
}

// A cost that the response tells is settled, with gin's writer.
func TestCostFromTheResponse(t *testing.T) {
	e := newEngine(t, rule.Rule{
		Name: "tokens", Limits: []rule.Limit{{Limit: sluice.PerHour(10)}}, Cost: rule.Cost{Fixed: 1, Response: "X-Tokens"},
	})
	r := gin.New()
	r.GET("/", sluicegin.Rules(e), func(c *gin.Context) {
		c.Header("X-Tokens", "10")
		c.Status(http.StatusNoContent)
	})
	wantStatus(t, get(r, "/", "192.0.2.1:1"), http.StatusNoContent)
	wantStatus(t, get(r, "/", "192.0.2.1:1"), http.StatusTooManyRequests)
}

// Two limits in a row both count, and both know the gin context.
func TestTwoLimits(t *testing.T) {
	byName := sluicegin.KeyBy(func(c *gin.Context) (string, error) { return c.Param("name"), nil })
	r := newRouter(sluicegin.ByIP(sluice.PerHour(2)), sluicegin.Middleware(sluice.NewKeyed(sluice.PerHour(1)), byName))
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1"), http.StatusOK)
	wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1"), http.StatusTooManyRequests) // the second one's
	wantStatus(t, get(r, "/hello/bob", "192.0.2.1:1"), http.StatusTooManyRequests) // the first one's
	wantStatus(t, get(r, "/hello/bob", "192.0.2.2:1"), http.StatusOK)
}

// Who guesses paths is limited too, and sees the refusal and not gin's 404.
func TestUnknownPaths(t *testing.T) {
	r := newRouter(sluicegin.ByIP(sluice.PerHour(1)))
	wantStatus(t, get(r, "/wp-admin", "192.0.2.1:1"), http.StatusNotFound)
	wantStatus(t, get(r, "/.env", "192.0.2.1:1"), http.StatusTooManyRequests)
}

func TestPanicsReachRecovery(t *testing.T) {
	r := gin.New()
	r.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(http.StatusTeapot) }))
	r.Use(sluicegin.ByIP(sluice.PerHour(5)))
	r.GET("/", func(*gin.Context) { panic("oops") })
	wantStatus(t, get(r, "/", "192.0.2.1:1"), http.StatusTeapot)
}

// Handlers keep gin's writer and everything that it can do.
func TestWriterStaysGins(t *testing.T) {
	r := gin.New()
	r.Use(sluicegin.ByIP(sluice.PerHour(5)))
	r.GET("/flush", func(c *gin.Context) {
		if sluicegin.Context(c.Request) != c {
			t.Error("the request is not the one that the limit has passed on")
		}
		_, _ = c.Writer.WriteString("first")
		c.Writer.Flush()
		if !c.Writer.Written() || c.Writer.Size() != 5 {
			t.Errorf("gin does not know what was written: %d bytes", c.Writer.Size())
		}
		if err := http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{}); err != nil {
			t.Errorf("the response controller: %v", err)
		}
	})
	r.GET("/hijack", func(c *gin.Context) {
		conn, _, err := c.Writer.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
	})
	server := httptest.NewServer(r)
	defer server.Close()
	for path, want := range map[string]int{"/flush": http.StatusOK, "/hijack": http.StatusAccepted} {
		if got := statusOf(t, server, path); got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
}

// statusOf asks over a connection of its own.
func statusOf(t testing.TB, server *httptest.Server, path string) int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// A client that goes away while it waits is answered by nobody, and no handler runs.
func TestWaitEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		r := newRouter(sluicegin.ByIP(sluice.PerMinute(1), httplimit.Wait(time.Hour)), func(*gin.Context) { ran++ })
		wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1"), http.StatusOK)
		start := time.Now()
		wantStatus(t, get(r, "/hello/ann", "192.0.2.1:1"), http.StatusOK)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the second request took %v, want 1m", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(time.Second, cancel)
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/hello/ann", nil)
		req.RemoteAddr = "192.0.2.1:1"
		r.ServeHTTP(httptest.NewRecorder(), req)
		if took := time.Since(start); took != time.Minute+time.Second || ran != 2 {
			t.Errorf("it took %v and %d handlers ran, want 1m1s and 2", took, ran)
		}
	})
}

func TestContextOfForeignRequest(t *testing.T) {
	if c := sluicegin.Context(httptest.NewRequest(http.MethodGet, "/", nil)); c != nil {
		t.Errorf("got %v, want nil", c)
	}
}
