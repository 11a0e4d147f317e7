package httplimit_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// hello is the service that the examples protect.
func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// show prints what a handler answers to a GET of path by a client.
func show(h http.Handler, path, remote string, header ...string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = remote
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("RateLimit"), " ", w.Header().Get("Retry-After"))))
}

func ExampleByIP() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", hello)
	handler := httplimit.ByIP(sluice.PerMinute(2))(mux)

	for _, client := range []string{"192.0.2.1:1234", "192.0.2.1:1234", "192.0.2.1:5678", "192.0.2.2:1234"} {
		show(handler, "/", client)
	}
	// Output:
	// 200 "default";r=1;t=30
	// 200 "default";r=0;t=30
	// 429 "default";r=0;t=30 30
	// 200 "default";r=1;t=30
}

func ExampleMiddleware() {
	keys := sluice.NewKeyed(sluice.PerSecond(10), sluice.WithLimits(sluice.PerHour(1000)))
	limit := httplimit.Middleware(
		keys,
		httplimit.KeyBy(func(r *http.Request) (string, error) { return r.Header.Get("X-Api-Key"), nil }),
		httplimit.Name("second", "hour"),
	)
	handler := limit(http.HandlerFunc(hello))

	show(handler, "/", "192.0.2.1:1234", "X-Api-Key", "k1")
	show(handler, "/", "192.0.2.1:1234")
	// Output:
	// 200 "second";r=9;t=1
	// 400
}

func ExampleRules() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "login",
		Match:  rule.Match{Methods: []string{"GET", "POST"}, Paths: []string{"/login"}},
		Key:    []string{"ip"},
		Limits: []rule.Limit{{Limit: sluice.PerMinute(1)}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := engine.New(set, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = rules.Close() }()
	handler := httplimit.Rules(rules)(http.HandlerFunc(hello))

	show(handler, "/login", "192.0.2.1:1234")
	show(handler, "/./login/", "192.0.2.1:1234")
	show(handler, "/elsewhere", "192.0.2.1:1234")
	// Output:
	// 200 "login";r=0;t=60
	// 429 "login";r=0;t=60 60
	// 200
}

func ExampleTrustProxies() {
	proxies, err := httplimit.ParsePrefixes("10.0.0.0/8", "2001:db8::/32")
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := httplimit.ByIP(sluice.PerMinute(1), httplimit.TrustProxies(proxies...))(http.HandlerFunc(hello))

	show(handler, "/", "10.0.0.1:443", "X-Forwarded-For", "6.6.6.6, 203.0.113.7")
	show(handler, "/", "10.0.0.1:443", "X-Forwarded-For", "7.7.7.7, 203.0.113.7") // the left end is the client's own
	// Output:
	// 200 "default";r=0;t=60
	// 429 "default";r=0;t=60 60
}

func ExampleClientAddress() {
	address := httplimit.ClientAddress(httplimit.TrustHops(1))
	limit := httplimit.Middleware(
		sluice.NewKeyed(sluice.PerMinute(60)),
		httplimit.KeyBy(func(r *http.Request) (string, error) {
			if user, _, ok := r.BasicAuth(); ok {
				return "user:" + user, nil
			}
			return "ip:" + httplimit.AddressKey(address(r)), nil
		}),
	)
	handler := limit(http.HandlerFunc(hello))

	show(handler, "/", "10.0.0.1:443", "X-Forwarded-For", "203.0.113.7")
	// Output:
	// 200 "default";r=59;t=1
}

func ExampleHeaders() {
	handler := httplimit.ByIP(sluice.PerMinute(100), httplimit.Headers(rule.HeadersDraft07))(http.HandlerFunc(hello))

	show(handler, "/", "192.0.2.1:1234")
	// Output:
	// 200 limit=100, remaining=99, reset=1
}

func ExampleDenied() {
	handler := httplimit.ByIP(
		sluice.PerMinute(1),
		httplimit.Jitter(0.2),
		httplimit.Denied(func(w http.ResponseWriter, _ *http.Request, d engine.Decision) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(httplimit.Status(d.Decision))
			_, _ = fmt.Fprintln(w, "slow down:", d.LimitName)
		}),
	)(http.HandlerFunc(hello))

	for range 2 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 hello
	// 429 slow down: default
}

func ExampleDecided() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name: "new", Mode: rule.Shadow, Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerMinute(1)}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := engine.New(set, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = rules.Close() }()
	handler := httplimit.Rules(rules, httplimit.Decided(func(r *http.Request, d engine.Decision) {
		if d.Shadow {
			fmt.Println("would have been refused:", r.URL.Path)
		}
	}))(http.HandlerFunc(hello))

	show(handler, "/a", "192.0.2.1:1234")
	show(handler, "/b", "192.0.2.1:1234")
	// Output:
	// 200
	// would have been refused: /b
	// 200
}

func ExampleOnError() {
	handler := httplimit.Middleware(
		sluice.NewKeyed(sluice.PerMinute(100)),
		httplimit.OnError(func(_ http.ResponseWriter, r *http.Request, err error) (proceed bool) {
			slog.WarnContext(r.Context(), "not limited", "error", err)
			return true
		}),
	)(http.HandlerFunc(hello))

	show(handler, "/", "192.0.2.1:1234")
	// Output:
	// 200 "default";r=99;t=1
}

func ExampleHealth() {
	handler := httplimit.ByIP(sluice.PerMinute(1), httplimit.Health("/healthz"))(http.HandlerFunc(hello))

	for range 3 {
		show(handler, "/healthz", "192.0.2.1:1234")
	}
	// Output:
	// 200
	// 200
	// 200
}

func ExampleWait() {
	// Everybody gets one answer per 10 ms; up to 100 requests queue for that.
	shaped := httplimit.ByIP(sluice.MustParse("leaky_bucket 100/s burst=100"))
	// Who is over the limit is held for up to 2 s before it is refused.
	patient := httplimit.ByIP(sluice.PerSecond(10), httplimit.Wait(2*time.Second), httplimit.MaxWaiters(1000))
	handler := shaped(patient(http.HandlerFunc(hello)))

	for range 2 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleCostBy() {
	handler := httplimit.ByIP(sluice.PerHour(100), httplimit.CostBy(func(r *http.Request) int64 {
		if r.URL.Path == "/search" {
			return 10
		}
		return 1
	}))(http.HandlerFunc(hello))

	show(handler, "/search", "192.0.2.1:1234")
	show(handler, "/", "192.0.2.1:1234")
	// Output:
	// 200 "default";r=90;t=36
	// 200 "default";r=89;t=36
}

// A cost that only the answer tells: an estimate is taken before, and settled after.
func ExampleRules_responseCost() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "tokens",
		Key:    []string{"header:X-Api-Key"},
		Limits: []rule.Limit{{Limit: sluice.PerHour(1_000)}},
		Cost:   rule.Cost{Fixed: 200, Response: "X-Tokens-Used"},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := engine.New(set, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = rules.Close() }()
	handler := httplimit.Rules(rules)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Tokens-Used", "15")
	}))

	show(handler, "/", "192.0.2.1:1234", "X-Api-Key", "k1")
	show(handler, "/", "192.0.2.1:1234", "X-Api-Key", "k1")
	// Output:
	// 200 "tokens";r=800;t=4
	// 200 "tokens";r=785;t=4
}

func ExampleTeller() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:    "jobs",
		Key:     []string{"user"},
		Limits:  []rule.Limit{{Limit: sluice.PerMinute(1)}},
		Headers: rule.HeadersLegacy,
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := engine.New(set, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = rules.Close() }()

	tell := httplimit.Teller(rules, rule.HeadersDraft10)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := rules.Check(r.Context(), engine.Request{User: "ada"})
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		tell(w.Header(), d)
		w.WriteHeader(httplimit.Status(d.Decision))
	})
	for range 2 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
		fmt.Printf("%d %q %q\n", w.Code, w.Header().Get("X-RateLimit-Remaining"), w.Header().Get("Retry-After"))
	}
	// Output:
	// 200 "0" ""
	// 429 "0" "60"
}

func ExampleTransport() {
	client := http.Client{
		Transport: httplimit.Transport(
			http.DefaultTransport,
			httplimit.PerHost(sluice.NewKeyed(sluice.PerSecond(10))),
			httplimit.MaxHold(time.Minute),
			httplimit.Wait(2*time.Second),
		),
		Timeout: 5 * time.Second,
	}

	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer busy.Close()
	for range 2 {
		res, err := client.Get(busy.URL)
		var held *httplimit.HeldError
		switch {
		case errors.As(err, &held):
			fmt.Println("not called again for", held.RetryAfter.Round(time.Second))
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(res.StatusCode)
			_ = res.Body.Close()
		}
	}
	// Output:
	// 429
	// not called again for 30s
}
