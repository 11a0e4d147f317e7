package httplimit_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// oneInFlight lets one request be in flight per address.
func oneInFlight(more ...rule.Rule) rule.Config {
	reports := rule.Rule{Name: "reports", Key: []string{"ip"}, Limits: limits("concurrency 1")}
	return rule.Config{Rules: append([]rule.Rule{reports}, more...)}
}

// flying returns how many requests are in flight.
func flying(t *testing.T, e *engine.Engine, r engine.Request) int64 {
	t.Helper()
	x, err := e.Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return x.Rules[0].Limits[0].InFlight
}

var here = engine.Request{IP: prefixes("192.0.2.1")[0].Addr()}

// TestRulesHold: a request is in flight until its handler returns, whatever that does and
// whatever the rules ask for besides; who finds no place is told so, and no time.
func TestRulesHold(t *testing.T) {
	waits := rule.Rule{Name: "waits", Limits: limits("leaky_bucket 1000/s burst=9"), Wait: rule.Duration(time.Second)}
	settled := rule.Rule{Name: "settled", Limits: limits("1000/s"), Cost: rule.Cost{Fixed: 1, Response: "X-Cost"}}
	for _, c := range []struct {
		name  string
		rules rule.Config
	}{{"alone", oneInFlight()}, {"beside a wait", oneInFlight(waits)}, {"beside a cost of the response", oneInFlight(settled)}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newRules(t, c.rules)
				inside, end := make(chan bool), make(chan string)
				h := httplimit.Rules(e)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					inside <- true
					switch <-end {
					case "panic":
						panic(http.ErrAbortHandler)
					case "flush":
						_ = http.NewResponseController(w).Flush()
					}
				}))
				for _, how := range []string{"return", "panic", "flush"} {
					go func() {
						defer func() { _ = recover() }()
						h.ServeHTTP(httptest.NewRecorder(), request("192.0.2.1:1"))
					}()
					<-inside
					res := serve(h, request("192.0.2.1:2"))
					wantStatus(t, how+": the second", res, 429)
					if got := res.Header.Get("Retry-After"); got != "1" {
						t.Errorf("Retry-After: %q", got)
					}
					if got := res.Header.Get("RateLimit") + " " + res.Header.Get("RateLimit-Policy"); got != `"reports";r=0 "reports";q=1;qu="concurrent-requests"` {
						t.Errorf("told %s", got)
					}
					end <- how
					synctest.Wait()
					if n := flying(t, e, here); n != 0 {
						t.Errorf("%s: %d are in flight", how, n)
					}
				}
			})
		})
	}
}

// TestRulesHoldDialects: fields that speak of windows say nothing of requests in flight.
func TestRulesHoldDialects(t *testing.T) {
	for dialect, want := range map[rule.Headers]string{
		rule.HeadersDraft10: `"reports";r=0`, rule.HeadersDraft11: `"reports";a=0`,
		rule.HeadersDraft07: "", rule.HeadersDraft06: "", rule.HeadersLegacy: "", rule.HeadersNone: "",
	} {
		e := newRules(t, oneInFlight())
		res := serve(httplimit.Rules(e, httplimit.Headers(dialect))(served), request("192.0.2.1:1"))
		wantStatus(t, string(dialect), res, 200)
		if got := res.Header.Get("RateLimit") + res.Header.Get("RateLimit-Limit") + res.Header.Get("X-RateLimit-Limit"); got != want {
			t.Errorf("%s: told %q", dialect, got)
		}
	}
}

// TestSubrequests: a question about a request holds nothing, and is answered by what others
// hold.
func TestSubrequests(t *testing.T) {
	e := newRules(t, oneInFlight())
	var seen int64
	h := httplimit.Rules(e, httplimit.Subrequests())(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen = flying(t, e, here) }))
	wantStatus(t, "free", serve(h, request("192.0.2.1:1")), 200)
	if seen != 0 {
		t.Error("a question is in flight")
	}
	entry, err := e.Enter(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, "taken", serve(h, request("192.0.2.1:1")), 429)
	entry.Leave()
}

// TestRulesHoldServer: over a real connection, a client that goes away, one that takes the
// connection over, and one that comes back at once all leave their place.
func TestRulesHoldServer(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "reports", Limits: limits("concurrency 1")}}})
	inside := make(chan bool, 1)
	server := httptest.NewServer(httplimit.Rules(e)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			inside <- true
			<-r.Context().Done()
		case "/tunnel":
			conn, both, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			_ = both.Flush()
			line, _ := both.ReadString('\n')
			_, _ = both.WriteString(line)
			_ = both.Flush()
			_, _ = io.Copy(io.Discard, both)
		}
	})))
	defer server.Close()
	for range 20 { // one after the other, as a client does: the answer comes when the place is free
		res, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		wantStatus(t, "one after the other", res, 200)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/gone", nil)
	failed := make(chan error)
	go func() {
		res, err := server.Client().Do(gone)
		if err == nil {
			_ = res.Body.Close()
		}
		failed <- err
	}()
	<-inside
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantFree(t, e)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n")
	read := bufio.NewReader(conn)
	for line := ""; line != "hello\n"; {
		if line, err = read.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if n := flying(t, e, engine.Request{}); n != 1 {
		t.Errorf("a tunnel counts as %d", n)
	}
	_ = conn.Close()
	wantFree(t, e)
}

// wantFree waits until nobody is in flight.
func wantFree(t *testing.T, e *engine.Engine) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); flying(t, e, engine.Request{}) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a place is not left")
		}
	}
}

// TestTransportHolds: a call is in flight until its answer is over, in whatever way.
func TestTransportHolds(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "calls", Limits: limits("concurrency 1")}}})
	var answer func() (*http.Response, error)
	next := roundTrip(func(*http.Request) (*http.Response, error) { return answer() })
	for _, wait := range []time.Duration{0, time.Second} {
		transport := httplimit.Transport(next, httplimit.OutgoingRules(e), httplimit.Wait(wait))
		ctx, cancel := context.WithCancel(t.Context())
		for _, c := range []struct {
			name string
			body io.ReadCloser
			end  func(*http.Response)
		}{
			{"closed", io.NopCloser(strings.NewReader("text")), func(r *http.Response) { _ = r.Body.Close() }},
			{"read", io.NopCloser(strings.NewReader("text")), func(r *http.Response) { _, _ = io.ReadAll(r.Body) }},
			{"tunnel", struct{ io.ReadWriteCloser }{readWriteCloser{}}, func(r *http.Response) {
				if _, err := r.Body.(io.Writer).Write(nil); err != nil {
					t.Error(err)
				}
				_, _ = r.Body.Read(nil) // one side has ended
				if flying(t, e, engine.Request{}) != 1 {
					t.Error("a tunnel that is half open is over")
				}
				_ = r.Body.Close()
			}},
			{"context", io.NopCloser(strings.NewReader("text")), func(*http.Response) {
				cancel()
				wantFree(t, e) // it is told in another goroutine
			}},
		} {
			answer = func() (*http.Response, error) {
				status := 200
				if c.name == "tunnel" {
					status = 101
				}
				return &http.Response{StatusCode: status, Body: c.body, Header: http.Header{}}, nil
			}
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/", nil)
			res, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if _, err := transport.RoundTrip(r); !errors.Is(err, sluice.ErrLimited) {
				t.Errorf("%s: the second call: %v", c.name, err)
			}
			if c.end(res); flying(t, e, engine.Request{}) != 0 {
				t.Errorf("%s: still in flight", c.name)
			}
		}
		for name, a := range map[string]func() (*http.Response, error){
			"failed":  func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
			"no body": func() (*http.Response, error) { return &http.Response{StatusCode: 204, Body: http.NoBody}, nil },
		} {
			answer = a
			res, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "http://a.example/", nil))
			if err == nil {
				_ = res.Body.Close()
			}
			if flying(t, e, engine.Request{}) != 0 {
				t.Errorf("%s: still in flight", name)
			}
		}
		answer = func() (*http.Response, error) { panic("transport") }
		func() {
			defer func() { _ = recover() }()
			_, _ = transport.RoundTrip(httptest.NewRequest(http.MethodGet, "http://a.example/", nil))
		}()
		if flying(t, e, engine.Request{}) != 0 {
			t.Error("panic: still in flight")
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type readWriteCloser struct{}

func (readWriteCloser) Read([]byte) (int, error)    { return 0, io.EOF }
func (readWriteCloser) Write(p []byte) (int, error) { return len(p), nil }
func (readWriteCloser) Close() error                { return nil }
