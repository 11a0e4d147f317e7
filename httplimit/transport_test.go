package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// server is a RoundTripper that answers as it is told.
type server func(r *http.Request) *http.Response

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	res := s(r)
	res.Body, res.Request = http.NoBody, r
	return res, nil
}

func replies(status int, header ...string) server {
	return func(*http.Request) *http.Response {
		res := &http.Response{StatusCode: status, Header: http.Header{}}
		for i := 0; i < len(header); i += 2 {
			res.Header.Add(header[i], header[i+1])
		}
		return res
	}
}

// call sends a GET and returns how long it took.
func call(t *testing.T, ctx context.Context, rt http.RoundTripper, url string) (time.Duration, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	res, err := rt.RoundTrip(r)
	if err == nil {
		_ = res.Body.Close()
	}
	return time.Since(begin), err
}

// TestTransportHeedsTheServer: after an answer that asks for it, the host is left alone
// for as long.
func TestTransportHeedsTheServer(t *testing.T) {
	for _, c := range []struct {
		what   string
		status int
		header []string
		opts   []httplimit.TransportOption
		want   time.Duration
	}{
		{"nothing", 200, nil, nil, 0},
		{"seconds", 429, []string{"Retry-After", "7"}, nil, 7 * time.Second},
		{"seconds, 503", 503, []string{"Retry-After", " 7 "}, nil, 7 * time.Second},
		{"seconds, but fine", 200, []string{"Retry-After", "7"}, nil, 0},
		{"date", 429, []string{"Retry-After", "Sat, 01 Jan 2000 00:00:07 GMT"}, nil, 7 * time.Second},
		{"date by its own clock", 429, []string{"Date", "Sat, 01 Jan 2022 10:00:00 GMT", "Retry-After", "Sat, 01 Jan 2022 10:00:07 GMT"}, nil, 7 * time.Second},
		{"date in the past", 429, []string{"Retry-After", "Sat, 01 Jan 1999 00:00:00 GMT"}, nil, 0},
		{"nonsense", 429, []string{"Retry-After", "-7"}, nil, 0},
		{"RateLimit", 200, []string{"RateLimit", `"default";r=0;t=30`}, nil, 30 * time.Second},
		{"some left", 200, []string{"RateLimit", `"default";r=1;t=30`}, nil, 0},
		{"draft 11", 200, []string{"RateLimit", `"default";a=0;w=30`}, nil, 30 * time.Second},
		{"draft 07", 200, []string{"RateLimit", "limit=10, remaining=0, reset=30"}, nil, 30 * time.Second},
		{"draft 07, some left", 200, []string{"RateLimit", "limit=10, remaining=1, reset=30"}, nil, 0},
		{"draft 07, malformed", 200, []string{"RateLimit", "limit=10, remaining=0, reset=-30"}, nil, 0},
		{"draft 06", 200, []string{"RateLimit-Limit", "10, 10;w=60", "RateLimit-Remaining", "0", "RateLimit-Reset", "30"}, nil, 30 * time.Second},
		{"draft 06, some left", 200, []string{"RateLimit-Limit", "10", "RateLimit-Remaining", "1", "RateLimit-Reset", "30"}, nil, 0},
		{"several", 200, []string{"RateLimit", `"a";r=0;t=3, "b,;\"";r=0;t=5;pk=:YQ==:`, "RateLimit", `"c";r=9;t=99`}, nil, 5 * time.Second},
		{"malformed", 200, []string{"RateLimit", `"a";r=0;t=3, b`}, nil, 0},
		{"no time", 200, []string{"RateLimit", `"a";r=0`}, nil, 0},
		{"from a cache", 200, []string{"RateLimit", `"a";r=0;t=30`, "Age", "10"}, nil, 0},
		{"the later one", 429, []string{"RateLimit", `"a";r=0;t=30`, "Retry-After", "7"}, nil, 30 * time.Second},
		{"far too long", 429, []string{"Retry-After", "99999999999999999999"}, nil, 5 * time.Minute},
		{"bounded", 429, []string{"Retry-After", "3600"}, []httplimit.TransportOption{httplimit.MaxHold(10 * time.Second)}, 10 * time.Second},
		{"not heeded", 429, []string{"Retry-After", "3600"}, []httplimit.TransportOption{httplimit.MaxHold(0)}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			rt := httplimit.Transport(replies(c.status, c.header...), c.opts...)
			if took, err := call(t, t.Context(), rt, "https://a.example/x"); took != 0 || err != nil {
				t.Errorf("%s: first call: %v, %v", c.what, took, err)
			}
			if took, err := call(t, t.Context(), rt, "https://b.example/x"); took != 0 || err != nil {
				t.Errorf("%s: another host: %v, %v", c.what, took, err)
			}
			if took, err := call(t, t.Context(), rt, "https://A.example.:443/y"); took != c.want || err != nil {
				t.Errorf("%s: second call: %v, want %v, %v", c.what, took, c.want, err)
			}
		})
	}
}

// TestTransportFailsInTime: a call that cannot wait so long fails at once, says why, and
// closes its body.
func TestTransportFailsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		perHour := func() httplimit.TransportOption { return httplimit.PerHost(sluice.NewKeyed(sluice.PerHour(1))) }
		engine := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits("1/h"), Match: rule.Match{Hosts: []string{"a.example"}}}}})
		deny := newRules(t, rule.Config{Default: rule.Deny})
		var held *httplimit.HeldError
		var limited *sluice.LimitedError
		var refused *httplimit.RefusedError
		for _, c := range []struct {
			what string
			ctx  context.Context
			rt   http.RoundTripper
			as   any
		}{
			{"held, deadline", short, httplimit.Transport(replies(429, "Retry-After", "60")), &held},
			{"held, never waits", t.Context(), httplimit.Transport(replies(429, "Retry-After", "60"), httplimit.Wait(0)), &held},
			{"held, waits a bit", t.Context(), httplimit.Transport(replies(429, "Retry-After", "60"), httplimit.Wait(time.Second)), &held},
			{"limited, deadline", short, httplimit.Transport(replies(200), perHour()), &limited},
			{"limited, never waits", t.Context(), httplimit.Transport(replies(200), perHour(), httplimit.Wait(0)), &limited},
			{"limited, waits a bit", t.Context(), httplimit.Transport(replies(200), perHour(), httplimit.Wait(time.Second)), &limited},
			{"rules", t.Context(), httplimit.Transport(replies(200), httplimit.OutgoingRules(engine)), &limited},
			{"no rule", t.Context(), httplimit.Transport(replies(200), httplimit.OutgoingRules(deny)), &refused},
		} {
			_, _ = call(t, c.ctx, c.rt, "https://a.example/")
			closed := &closing{Reader: strings.NewReader("text")}
			r, err := http.NewRequestWithContext(c.ctx, http.MethodPost, "https://a.example/", closed)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, err = c.rt.RoundTrip(r)
			if !errors.Is(err, sluice.ErrLimited) || !errors.As(err, c.as) || err.Error() == "" {
				t.Errorf("%s: %v", c.what, err)
			}
			if took := time.Since(begin); took != 0 || !closed.done {
				t.Errorf("%s: took %v, body closed: %v", c.what, took, closed.done)
			}
		}
	})
}

// closing is a body that knows whether it was closed.
type closing struct {
	io.Reader
	done bool
}

func (c *closing) Close() error {
	c.done = true
	return nil
}

// TestTransportPerHost: calls are spaced by host, and a caller that gives up is gone.
func TestTransportPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := httplimit.Transport(replies(200), httplimit.PerHost(sluice.NewKeyed(sluice.PerSecond(1))))
		for i, want := range []time.Duration{0, time.Second, time.Second} {
			if took, err := call(t, t.Context(), rt, "http://a.example/"); took != want || err != nil {
				t.Errorf("call %d: %v, %v", i, took, err)
			}
			if took, err := call(t, t.Context(), rt, fmt.Sprintf("http://b%d.example/", i)); took != 0 || err != nil {
				t.Errorf("another host: %v, %v", took, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		if took, err := call(t, ctx, rt, "http://a.example/"); took != 100*time.Millisecond || !errors.Is(err, context.Canceled) {
			t.Errorf("given up after %v: %v", took, err)
		}
	})
}

// TestTransportHeldWhileWaiting: an answer that comes while a call waits for its limit
// holds that call back too.
func TestTransportHeldWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := server(func(r *http.Request) *http.Response {
			time.Sleep(500 * time.Millisecond)
			return replies(429, "Retry-After", "10")(r)
		})
		rt := httplimit.Transport(slow, httplimit.PerHost(sluice.NewKeyed(sluice.PerSecond(1))))
		go func() { _, _ = call(t, t.Context(), rt, "http://a.example/") }()
		synctest.Wait()
		if took, err := call(t, t.Context(), rt, "http://a.example/"); took != 11*time.Second || err != nil { // 0.5 + 10 + its own 0.5
			t.Errorf("%v, %v", took, err)
		}
	})
}

// TestTransportKeepsTheLongerHold: a later answer does not shorten what an earlier one
// has asked for.
func TestTransportKeepsTheLongerHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := httplimit.Transport(server(func(r *http.Request) *http.Response {
			if r.URL.Path == "/late" {
				time.Sleep(time.Second)
				return replies(429, "Retry-After", "1")(r)
			}
			return replies(429, "Retry-After", "10")(r)
		}))
		go func() { _, _ = call(t, t.Context(), rt, "http://a.example/late") }()
		synctest.Wait()
		_, _ = call(t, t.Context(), rt, "http://a.example/")
		time.Sleep(2 * time.Second)
		if took, err := call(t, t.Context(), rt, "http://a.example/"); took != 8*time.Second || err != nil {
			t.Errorf("%v, %v", took, err)
		}
	})
}

// TestTransportLeavesTheRequestAlone: nothing of it is changed, and its context goes on.
func TestTransportLeavesTheRequestAlone(t *testing.T) {
	var got *http.Request
	rt := httplimit.Transport(server(func(r *http.Request) *http.Response {
		got = r
		return replies(200)(r)
	}), httplimit.PerHost(sluice.NewKeyed(sluice.PerSecond(1))))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://A.example/%2e?x#f", nil)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Clone(t.Context())
	res, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got != r || r.URL.String() != before.URL.String() || len(r.Header) != len(before.Header) || r.Host != before.Host {
		t.Errorf("%v was changed to %v", before, r)
	}
	if _, err := httplimit.Transport(nil).RoundTrip(&http.Request{}); err == nil {
		t.Error("a request without URL is sent")
	}
}

// TestTransportForgetsHosts: hosts that ask to be left alone are remembered in bounded
// memory, those that ask for longest above all.
func TestTransportForgetsHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := httplimit.Transport(server(func(r *http.Request) *http.Response {
			if r.URL.Host == "long.example" {
				return replies(429, "Retry-After", "60")(r)
			}
			return replies(429, "Retry-After", "30")(r)
		}), httplimit.Wait(0))
		for i := range 3000 {
			if i == 10 {
				_, _ = call(t, t.Context(), rt, "http://long.example/")
			}
			_, _ = call(t, t.Context(), rt, fmt.Sprintf("http://h%d.example/", i))
		}
		if _, err := call(t, t.Context(), rt, "http://long.example/"); err == nil {
			t.Error("forgotten")
		}
		remembered := 0
		for i := range 3000 {
			if _, err := call(t, t.Context(), rt, fmt.Sprintf("http://h%d.example/", i)); err != nil {
				remembered++
			}
		}
		if remembered > 1024 || remembered == 0 {
			t.Errorf("%d remembered", remembered)
		}
	})
}
