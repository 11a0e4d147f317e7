package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// burst sends n requests at the same time and returns their status codes and when the
// last one was answered.
func burst(h http.Handler, n int) (codes map[int]int, took time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	codes = map[int]int{}
	begin := time.Now()
	for range n {
		all.Go(func() {
			code := serve(h, request("192.0.2.1:1")).StatusCode
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	all.Wait()
	return codes, time.Since(begin)
}

// TestWait: requests are held instead of refused, as long and as many as they may.
func TestWait(t *testing.T) {
	wait := httplimit.Wait
	for _, c := range []struct {
		name  string
		limit string
		opts  []httplimit.KeyedOption
		codes map[int]int
		took  time.Duration
	}{
		{"never", "1/s", nil, map[int]int{200: 1, 429: 4}, 0},
		{"up to 2 s", "1/s", []httplimit.KeyedOption{wait(2 * time.Second)}, map[int]int{200: 3, 429: 2}, 2 * time.Second},
		{"long enough", "1/s", []httplimit.KeyedOption{wait(time.Minute)}, map[int]int{200: 5}, 4 * time.Second},
		{"window", "fixed_window 2/s", []httplimit.KeyedOption{wait(time.Minute)}, map[int]int{200: 5}, 2 * time.Second},
		{"leaky bucket", "leaky_bucket 1/s burst=2", nil, map[int]int{200: 3, 429: 2}, 2 * time.Second},
		{"leaky bucket, shorter", "leaky_bucket 1/s burst=4", []httplimit.KeyedOption{wait(time.Second)}, map[int]int{200: 2, 429: 3}, time.Second},
		{"two of one key may wait", "1/s", []httplimit.KeyedOption{wait(time.Minute), httplimit.MaxWaiters(8)}, map[int]int{200: 3, 429: 2}, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := httplimit.ByIP(sluice.MustParse(c.limit), c.opts...)(served)
			codes, took := burst(h, 5)
			if took != c.took || len(codes) != len(c.codes) || codes[200] != c.codes[200] || codes[429] != c.codes[429] {
				t.Errorf("%s: %v after %v, want %v after %v", c.name, codes, took, c.codes, c.took)
			}
		})
	}
}

// TestWaitIsToldSoberly: who has waited is told that nothing is left, and no wrong time.
func TestWaitIsToldSoberly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := spent(t, httplimit.ByIP(sluice.Per(1, 10*time.Second), httplimit.Wait(time.Minute))(served))
		if got := told(serve(h, request("192.0.2.1:1"))); got != `Ratelimit: "default";r=0 | Ratelimit-Policy: "default";q=1;w=10` {
			t.Error(got)
		}
	})
}

// TestClientLeavesTheQueue: who goes away is not served, and its place is free again.
func TestClientLeavesTheQueue(t *testing.T) {
	e := func(t *testing.T) http.Handler {
		return httplimit.Rules(newRules(t, rule.Config{Rules: []rule.Rule{{
			Name: "all", Key: []string{"ip"}, Wait: rule.Duration(time.Minute), Limits: []rule.Limit{{Limit: sluice.PerSecond(1)}},
		}}}))(served)
	}
	for name, make := range map[string]func(t *testing.T) http.Handler{
		"Middleware": func(*testing.T) http.Handler {
			return httplimit.ByIP(sluice.PerSecond(1), httplimit.Wait(time.Minute), httplimit.MaxWaiters(1))(served)
		},
		"Rules": e,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := spent(t, make(t))
			ctx, cancel := context.WithCancel(t.Context())
			var code atomic.Int64
			go func() {
				code.Store(int64(serve(h, request("192.0.2.1:1").WithContext(ctx)).StatusCode))
			}()
			synctest.Wait()
			if code.Load() != 0 {
				t.Fatalf("%s: answered with %d", name, code.Load())
			}
			cancel()
			synctest.Wait()
			if code.Load() != 499 {
				t.Errorf("%s: %d after it has left", name, code.Load())
			}
			begin := time.Now()
			wantStatus(t, name+", next", serve(h, request("192.0.2.1:1")), http.StatusOK)
			if took := time.Since(begin); took != time.Second {
				t.Errorf("%s: the next one took %v", name, took)
			}
		})
	}
}

// TestDeadlineOfTheServer: a deadline that the server has set is no client that left.
func TestDeadlineOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := spent(t, httplimit.ByIP(sluice.PerSecond(1), httplimit.Wait(time.Minute), httplimit.OnError(httplimit.FailOpen))(served))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		wantStatus(t, "deadline", serve(h, request("192.0.2.1:1").WithContext(ctx)), http.StatusTooManyRequests)
	})
}

// TestHeldRules: rules say who waits, and the door for how long at most.
func TestHeldRules(t *testing.T) {
	rules := rule.Config{Rules: []rule.Rule{{
		Name: "all", Key: []string{"user"}, Wait: rule.Duration(time.Minute), Limits: []rule.Limit{{Limit: sluice.MustParse("fixed_window 1/10s")}},
	}}}
	set, err := rule.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wait    time.Duration
		allowed bool
		took    time.Duration // of the second request
	}{{0, true, 10 * time.Second}, {20 * time.Second, true, 10 * time.Second}, {time.Second, false, 0}} {
		synctest.Test(t, func(t *testing.T) {
			held := httplimit.HeldRules(newEngine(t, set), c.wait)
			for i, allowed := range []bool{true, c.allowed} {
				begin := time.Now()
				d, err := held(t.Context(), &engine.Request{User: "ann"}, false)
				if took := time.Since(begin); err != nil || d.Allowed != allowed || i == 1 && took != c.took {
					t.Errorf("at most %v, request %d: allowed %v after %v, error %v", c.wait, i, d.Allowed, took, err)
				}
			}
		})
	}
}

// TestHeldRulesQueue: who stands behind others until the time of the door is up is refused,
// and that is no error.
func TestHeldRulesQueue(t *testing.T) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name: "all", Wait: rule.Duration(time.Minute), Limits: []rule.Limit{{Limit: sluice.MustParse("sliding_log 1/10s")}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, set)
		spend := func() {
			if d, err := e.Check(t.Context(), engine.Request{}); err != nil || !d.Allowed {
				t.Errorf("allowed %v, error %v", d.Allowed, err)
			}
		}
		spend()
		go func() { _, _ = e.Wait(t.Context(), engine.Request{}) }() // first in the queue, for 10 s as it seems
		synctest.Wait()
		go func() {
			time.Sleep(5 * time.Second) // somebody takes the place, and the queue stands still for 5 s more
			if err := e.Refund(t.Context(), engine.Request{}, 1); err != nil {
				t.Error(err)
			}
			spend()
		}()
		begin := time.Now()
		d, err := httplimit.HeldRules(e, 12*time.Second)(t.Context(), &engine.Request{}, false)
		if took := time.Since(begin); err != nil || d.Allowed || d.Reason != sluice.Limited || took != 12*time.Second {
			t.Errorf("allowed %v, reason %v after %v, error %v", d.Allowed, d.Reason, took, err)
		}
	})
}

// TestHeld: what other doors decide by waits as the middleware does, and says the same of
// the limit.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := httplimit.Held(sluice.NewKeyed(sluice.PerSecond(1)), 2*time.Second, 100)
		begin := time.Now()
		for i, c := range []struct {
			key     string
			cost    int64
			allowed bool
			took    time.Duration
		}{{"ann", 1, true, 0}, {"ann", 1, true, time.Second}, {"bob", 1, true, time.Second}, {"ann", 2, false, time.Second}} {
			d, err := held(t.Context(), c.key, c.cost)
			if err != nil || d.Allowed != c.allowed || time.Since(begin) != c.took || d.Limit().String() != "1/s" {
				t.Errorf("request %d: allowed %v of %v after %v, error %v", i, d.Allowed, d.Limit(), time.Since(begin), err)
			}
		}
		if _, err := held(t.Context(), "", 1); !errors.Is(err, sluice.ErrKey) {
			t.Error(err)
		}
	})
}
