package httplimit_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// TestResponseCost: what is taken before is an estimate, and the response settles it.
func TestResponseCost(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{
		Name: "tokens", Limits: limits("1000/h"), Cost: rule.Cost{Fixed: 100, Response: "X-Tokens"},
	}}})
	left := func() int64 {
		d, err := e.Peek(context.Background(), rule.Request{Path: "/", Cost: 1})
		if err != nil {
			t.Fatal(err)
		}
		return d.Remaining() + 1 // Peek tells what would be left after it
	}
	for _, c := range []struct {
		what    string
		handler http.HandlerFunc
		left    int64
	}{
		{"less", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Tokens", "30") }, 970},
		{"more", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Tokens", "170") }, 800},
		{"after the body", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("text"))
			w.Header().Set("X-Tokens", "50")
		}, 750},
		{"as a trailer", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(http.TrailerPrefix+"X-Tokens", "50") }, 700},
		{"not told", func(http.ResponseWriter, *http.Request) {}, 600},
		{"nonsense", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Tokens", "-5") }, 500},
		{"panic", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Tokens", "300") // as httputil.ReverseProxy leaves it if the answer breaks off
			panic(http.ErrAbortHandler)
		}, 200},
	} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != (c.what == "panic") {
					t.Errorf("%s: %v", c.what, p)
				}
			}()
			wantStatus(t, c.what, serve(httplimit.Rules(e)(c.handler), get("/")), http.StatusOK)
		}()
		if got := left(); got != c.left {
			t.Errorf("%s: %d left, want %d", c.what, got, c.left)
		}
	}
	spend := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Tokens", "1000") })
	serve(httplimit.Rules(e)(spend), get("/"))
	wantStatus(t, "in debt", serve(httplimit.Rules(e)(spend), get("/")), http.StatusTooManyRequests)
}

// TestResponseNotTold: estimates that differ all stay if the response does not tell.
func TestResponseNotTold(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{
		{Name: "a", Limits: limits("1000/h"), Cost: rule.Cost{Fixed: 100, Response: "X-A"}},
		{Name: "b", Limits: limits("500/h"), Cost: rule.Cost{Fixed: 200, Response: "X-B"}},
	}})
	wantStatus(t, "not told", serve(httplimit.Rules(e)(served), get("/")), http.StatusOK)
	d, err := e.Peek(t.Context(), rule.Request{Path: "/", Cost: 1})
	if err != nil || d.Remaining() != 299 { // of b, without the one that Peek asks for
		t.Errorf("%d left of %v, %v", d.Remaining(), d.Limit(), err)
	}
}

// TestResponseCostElsewhere: requests that no such rule matches are decided as always,
// and one that waits for its reservation can leave.
func TestResponseCostElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newRules(t, rule.Config{Rules: []rule.Rule{
			{
				Name: "tokens", Match: rule.Match{Paths: []string{"/tokens"}}, Limits: limits("10/s"), Wait: rule.Duration(time.Minute),
				Cost: rule.Cost{Fixed: 10, Response: "X-Tokens"},
			},
			{Name: "plain", Match: rule.Match{Paths: []string{"/plain"}}, Limits: limits("1/s"), Wait: rule.Duration(time.Second)},
		}})
		h := httplimit.Rules(e)(served)
		begin := time.Now()
		for range 2 {
			wantStatus(t, "plain", serve(h, get("/plain")), http.StatusOK)
			wantStatus(t, "tokens", serve(h, get("/tokens")), http.StatusOK)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("both waited together for %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		wantStatus(t, "left", serve(h, get("/tokens").WithContext(ctx)), 499)
		begin = time.Now()
		wantStatus(t, "next", serve(h, get("/tokens")), http.StatusOK)
		if took := time.Since(begin); took != 500*time.Millisecond {
			t.Errorf("the place of who left was not given back: %v", took)
		}
	})
}

// TestResponseCostWaits: rules with such a cost hold requests as all others do, within
// the same bounds.
func TestResponseCostWaits(t *testing.T) {
	for _, c := range []struct {
		limit    string
		deadline time.Duration // of the server
		codes    map[int]int
		took     time.Duration
	}{
		{"1/s", time.Hour, map[int]int{200: 3, 429: 17}, 2 * time.Second}, // two may wait
		{"fixed_window 1/s", time.Hour, map[int]int{200: 3, 429: 17}, 2 * time.Second},
		{"1/m", 10 * time.Second, map[int]int{200: 1, 429: 19}, 0}, // its time would come after the deadline
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newRules(t, rule.Config{Rules: []rule.Rule{{
				Name: "tokens", Limits: limits(c.limit), Wait: rule.Duration(10 * time.Minute), Cost: rule.Cost{Fixed: 1, Response: "X-Tokens"},
			}}}, engine.MaxWaiters(2))
			limited := httplimit.Rules(e)(served)
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithTimeout(r.Context(), c.deadline)
				defer cancel()
				limited.ServeHTTP(w, r.WithContext(ctx))
			})
			codes, took := burst(h, 20)
			if codes[200] != c.codes[200] || codes[429] != c.codes[429] || took != c.took {
				t.Errorf("%s: %v after %v, want %v after %v", c.limit, codes, took, c.codes, c.took)
			}
		})
	}
}

// TestOnlyResponseCostsAreSettled: a rule beside counts what it always does.
func TestOnlyResponseCostsAreSettled(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{
		{Name: "tokens", Limits: limits("1000/h"), Cost: rule.Cost{Fixed: 100, Response: "X-Tokens"}},
		{Name: "requests", Limits: limits("10/h")},
	}})
	h := httplimit.Rules(e)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Tokens", "50") }))
	for range 10 {
		wantStatus(t, "request", serve(h, get("/")), http.StatusOK)
	}
	wantStatus(t, "eleventh", serve(h, get("/")), http.StatusTooManyRequests)
	d, err := e.Peek(t.Context(), rule.Request{Path: "/"})
	if err != nil || d.Rule == nil || d.Rule.Name != "requests" {
		t.Errorf("%v refuses, %v", d.Rule, err)
	}
}
