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
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestRefusalIsNotWhatWasExpected: what others have said of their answer does not stand
// on ours. Content-Encoding does: who has set it compresses what follows.
func TestRefusalIsNotWhatWasExpected(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1))(served))
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"ETag", "Last-Modified", "Content-Length", "Content-Encoding"} {
			w.Header().Set(name, "x")
		}
		h.ServeHTTP(w, r)
	})
	got := serve(outer, request("192.0.2.1:1")).Header
	if got.Get("ETag") != "" || got.Get("Last-Modified") != "" || got.Get("Content-Length") == "x" || got.Get("Content-Encoding") != "x" {
		t.Error(got)
	}
}

// TestLegacyIsNotEarly: the second that is told as the reset is not before it.
func TestLegacyIsNotEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(900 * time.Millisecond) // the bubble's time begins at 946684800
		h := spent(t, httplimit.ByIP(sluice.Per(1, 10*time.Second), httplimit.Headers(rule.HeadersLegacy))(served))
		if got := serve(h, request("192.0.2.1:1")).Header.Get("X-RateLimit-Reset"); got != "946684811" {
			t.Errorf("%s, want 946684811: 10.9 s after the beginning", got)
		}
	})
}

// TestFaultsAreNoWayThrough: what is wrong with the question is no failure of the store,
// which FailOpen lets pass.
func TestFaultsAreNoWayThrough(t *testing.T) {
	for err, code := range map[error]int{store.ErrKey: 400, store.ErrCost: 429, store.ErrTooMany: 503, store.ErrOp: 503, store.ErrID: 503} {
		keyed := sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(brokenStore{fmt.Errorf("redisstore: take: %w", err)}))
		h := httplimit.Middleware(keyed, httplimit.OnError(httplimit.FailOpen))(served)
		wantStatus(t, err.Error(), serve(h, request("192.0.2.1:1")), code)
	}
}

// TestBlindDecisionsTellNothing: of a limit that nobody could look at there is nothing to
// tell, neither in headers nor in the reply.
func TestBlindDecisionsTellNothing(t *testing.T) {
	for policy, code := range map[failover.Policy]int{failover.Allow: 200, failover.Deny: 503, failover.Local: 200} {
		f, err := failover.New(brokenStore{errors.New("down")}, memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		h := httplimit.Middleware(sluice.NewKeyed(sluice.PerMinute(5), sluice.WithStore(f.WithPolicy(policy))))(served)
		res := serve(h, request("192.0.2.1:1"))
		wantStatus(t, fmt.Sprint(policy), res, code)
		if knows := policy == failover.Local; knows != (res.Header.Get("RateLimit") != "") || strings.Contains(body(t, res), "violated") {
			t.Errorf("%v: told %s", policy, told(res))
		}
		_ = f.Close()
	}
}

// TestDecided: every decision is told, of allowed and of refused requests.
func TestDecided(t *testing.T) {
	var seen []string
	tell := httplimit.Decided(func(r *http.Request, d engine.Decision) {
		seen = append(seen, fmt.Sprint(r.URL.Path, " ", d.Allowed, " ", d.Reason, " ", d.LimitName))
	})
	e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Limits: []rule.Limit{{Name: "hour", Limit: sluice.PerHour(1)}}}}})
	for _, h := range []http.Handler{httplimit.Rules(e, tell)(served), httplimit.ByIP(sluice.PerHour(1), httplimit.Name("hour"), tell)(served)} {
		seen = nil
		serve(h, get("/a"))
		serve(h, get("/b"))
		if got := strings.Join(seen, ", "); got != "/a true  hour, /b false limited hour" {
			t.Error(got)
		}
	}
}

// TestOnError: a store that fails is not the client's fault, and what happens then can
// be chosen; what is wrong with the request is no failure of the store.
func TestOnError(t *testing.T) {
	broken := sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(brokenStore{errors.New("down")}))
	open := httplimit.Middleware(broken, httplimit.OnError(httplimit.FailOpen))(served)
	wantStatus(t, "fail open", serve(open, request("192.0.2.1:1")), http.StatusOK)
	own := httplimit.Middleware(broken, httplimit.OnError(func(w http.ResponseWriter, _ *http.Request, err error) bool {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, err.Error())
		return false
	}))(served)
	res := serve(own, request("192.0.2.1:1"))
	wantStatus(t, "own", res, http.StatusTeapot)
	if text := body(t, res); !strings.Contains(text, "down") || strings.Contains(text, "served") {
		t.Error(text)
	}
	wantStatus(t, "default", serve(httplimit.Middleware(broken)(served), request("192.0.2.1:1")), http.StatusServiceUnavailable)
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	wantStatus(t, "out of time", serve(open, request("192.0.2.1:1").WithContext(late)), http.StatusServiceUnavailable)
	gone, leave := context.WithCancel(t.Context())
	leave()
	wantStatus(t, "gone", serve(open, request("192.0.2.1:1").WithContext(gone)), 499)
}
