package httplimit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// TestHeaders: what an allowed and a refused request are told, in every dialect.
func TestHeaders(t *testing.T) {
	tenPerMinute := []sluice.Limit{sluice.PerMinute(10)}
	for _, c := range []struct {
		dialect rule.Headers
		limits  []sluice.Limit
		allowed string
		refused string // at the end of the budget
	}{
		{
			rule.HeadersDraft10, tenPerMinute,
			`Ratelimit: "default";r=9;t=6 | Ratelimit-Policy: "default";q=10;w=60`,
			`Ratelimit: "default";r=0;t=6 | Ratelimit-Policy: "default";q=10;w=60 | Retry-After: 6`,
		},
		{
			rule.HeadersDraft11, tenPerMinute,
			`Ratelimit: "default";a=9;w=6 | Ratelimit-Policy: "default";q=10;w=60`,
			`Ratelimit: "default";a=0;w=6 | Ratelimit-Policy: "default";q=10;w=60 | Retry-After: 6`,
		},
		{
			rule.HeadersDraft07, tenPerMinute,
			`Ratelimit: limit=10, remaining=9, reset=6 | Ratelimit-Policy: 10;w=60`,
			`Ratelimit: limit=10, remaining=0, reset=6 | Ratelimit-Policy: 10;w=60 | Retry-After: 6`,
		},
		{
			rule.HeadersDraft06, tenPerMinute,
			`Ratelimit-Limit: 10, 10;w=60 | Ratelimit-Remaining: 9 | Ratelimit-Reset: 6`,
			`Ratelimit-Limit: 10, 10;w=60 | Ratelimit-Remaining: 0 | Ratelimit-Reset: 6 | Retry-After: 6`,
		},
		{
			rule.HeadersLegacy, tenPerMinute, // the bubble's time begins at 946684800
			`X-Ratelimit-Limit: 10 | X-Ratelimit-Remaining: 9 | X-Ratelimit-Reset: 946684806`,
			`Retry-After: 6 | X-Ratelimit-Limit: 10 | X-Ratelimit-Remaining: 0 | X-Ratelimit-Reset: 946684806`,
		},
		{rule.HeadersNone, tenPerMinute, ``, `Retry-After: 6`},
		{
			rule.HeadersDraft10,
			[]sluice.Limit{sluice.MustParse("10/s burst=10"), sluice.MustParse("fixed_window 10/h")},
			`Ratelimit: "10/s";r=9;t=1 | Ratelimit-Policy: "10/s";q=10;w=1, "fixed_window 10/h";q=10;w=3600`,
			`Ratelimit: "fixed_window 10/h";r=0;t=3600 | Ratelimit-Policy: "10/s";q=10;w=1, "fixed_window 10/h";q=10;w=3600 | Retry-After: 3600`,
		},
		{
			rule.HeadersDraft10,
			[]sluice.Limit{sluice.MustParse("1/s burst=10")},
			`Ratelimit: "default";r=9;t=1 | Ratelimit-Policy: "default";q=1;w=1;sluice-burst=10`,
			`Ratelimit: "default";r=0;t=1 | Ratelimit-Policy: "default";q=1;w=1;sluice-burst=10 | Retry-After: 1`,
		},
		{
			rule.HeadersDraft10,
			[]sluice.Limit{sluice.MustParse("10/mo")},
			`Ratelimit: "default";r=9;t=2678400 | Ratelimit-Policy: "default";q=10`,
			`Ratelimit: "default";r=0;t=2678400 | Ratelimit-Policy: "default";q=10 | Retry-After: 2678400`,
		},
		{
			rule.HeadersDraft10,
			[]sluice.Limit{sluice.MustParse("10/m refill=interval")},
			`Ratelimit: "default";r=9;t=60 | Ratelimit-Policy: "default";q=10;w=60`,
			`Ratelimit: "default";r=0;t=60 | Ratelimit-Policy: "default";q=10;w=60 | Retry-After: 60`,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			keyed := sluice.NewKeyed(c.limits[0], sluice.WithLimits(c.limits[1:]...))
			h := httplimit.Middleware(keyed, httplimit.Headers(c.dialect))(served)
			if got := told(serve(h, request("192.0.2.1:1"))); got != c.allowed {
				t.Errorf("%s %v, allowed:\n%s, want\n%s", c.dialect, c.limits, got, c.allowed)
			}
			for range 9 {
				serve(h, request("192.0.2.1:1"))
			}
			if got := told(serve(h, request("192.0.2.1:1"))); got != c.refused {
				t.Errorf("%s %v, refused:\n%s, want\n%s", c.dialect, c.limits, got, c.refused)
			}
		})
	}
}

// told joins the fields that speak of limits, sorted.
func told(res *http.Response) string {
	var all []string
	for _, name := range []string{
		"Ratelimit", "Ratelimit-Limit", "Ratelimit-Policy", "Ratelimit-Remaining", "Ratelimit-Reset",
		"Retry-After", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
	} {
		for _, line := range res.Header[name] {
			all = append(all, name+": "+line)
		}
	}
	return strings.Join(all, " | ")
}

// TestHeadersFollowTheLimit: SetLimit is told from the next request on.
func TestHeadersFollowTheLimit(t *testing.T) {
	keyed := sluice.NewKeyed(sluice.PerSecond(10))
	h := httplimit.Middleware(keyed)(served)
	serve(h, request("192.0.2.1:1"))
	if err := keyed.SetLimit(sluice.PerSecond(20)); err != nil {
		t.Fatal(err)
	}
	if got := serve(h, request("192.0.2.1:1")).Header.Get("RateLimit-Policy"); got != `"default";q=20;w=1` {
		t.Error(got)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	h := httplimit.ByIP(sluice.PerSecond(10), httplimit.Name("a\"b\\c\r\nü"+strings.Repeat("x", 100)))(served)
	got := serve(h, request("192.0.2.1:1")).Header.Get("RateLimit")
	if want := `"a\"b\\c???` + strings.Repeat("x", 100) + `";r=9;t=1`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUnlimitedIsNotTold: a limit that lets everything pass has nothing to say.
func TestUnlimitedIsNotTold(t *testing.T) {
	if got := told(serve(httplimit.ByIP(sluice.Unlimited)(served), request("192.0.2.1:1"))); got != "" {
		t.Error(got)
	}
}

// TestTwoMiddlewares: both stand in the list, and nothing that is shared is changed.
func TestTwoMiddlewares(t *testing.T) {
	inner := httplimit.ByIP(sluice.PerSecond(10), httplimit.Name("inner"))(served)
	both := httplimit.ByIP(sluice.PerSecond(20), httplimit.Name("outer"))(inner)
	for range 2 {
		res := serve(both, request("192.0.2.1:1", "Origin", "https://a.example"))
		if got := strings.Join(res.Header["Ratelimit-Policy"], ", "); got != `"outer";q=20;w=1, "inner";q=10;w=1` {
			t.Error(got)
		}
		if n := len(res.Header["Ratelimit"]); n != 2 {
			t.Errorf("%d lines", n)
		}
	}
}

// TestLinesAreNotShared: who changes what a client is told changes nothing for the next.
func TestLinesAreNotShared(t *testing.T) {
	h := httplimit.ByIP(sluice.PerSecond(10))(served)
	for i := range 4 { // clients that are all told the same
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(fmt.Sprintf("192.0.2.%d:1", i)))
		left, policy := w.Header()["Ratelimit"], w.Header()["Ratelimit-Policy"]
		if left[0] != `"default";r=9;t=1` || policy[0] != `"default";q=10;w=1` {
			t.Error(left, policy)
		}
		left[0], policy[0] = "changed", "changed"
	}
}

// TestCrossOrigin: a script of another origin may read the fields, beside what others
// let it read.
func TestCrossOrigin(t *testing.T) {
	h := httplimit.ByIP(sluice.PerHour(1))(served)
	cors := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Expose-Headers", "X-Total")
		h.ServeHTTP(w, r)
	})
	for _, status := range []int{200, 429} {
		res := serve(cors, request("192.0.2.1:1", "Origin", "https://a.example"))
		wantStatus(t, "cross-origin", res, status)
		if got := strings.Join(res.Header["Access-Control-Expose-Headers"], ", "); got != "X-Total, RateLimit, RateLimit-Policy, Retry-After" {
			t.Error(got)
		}
	}
	if got := serve(h, request("192.0.2.1:1")).Header.Get("Access-Control-Expose-Headers"); got != "" {
		t.Errorf("without Origin: %s", got)
	}
}

// TestProblem: what a program gets for every reason.
func TestProblem(t *testing.T) {
	const types = "https://iana.org/assignments/http-problem-types#"
	failing := errors.New("store is down")
	for _, c := range []struct {
		name   string
		h      http.Handler
		status int
		kind   string
		retry  string
		policy string
	}{
		{"limited", spent(t, httplimit.ByIP(sluice.PerMinute(1))(served)), 429, types + "quota-exceeded", "60", "default"},
		{"never", httplimit.ByIP(sluice.PerMinute(1), httplimit.CostBy(func(*http.Request) int64 { return 2 }))(served), 429, types + "quota-exceeded", "", "default"},
		{"negative cost", httplimit.ByIP(sluice.PerMinute(1), httplimit.CostBy(func(*http.Request) int64 { return -2 }))(served), 429, types + "quota-exceeded", "", ""},
		{"banned", httplimit.ByIP(sluice.MustParse("0/s"))(served), 429, types + "abnormal-usage-detected", "", "default"},
		{"no key", keyedBy("", nil), 400, "about:blank", "", ""},
		{"key error", keyedBy("x", failing), 400, "about:blank", "", ""},
		{"long key", keyedBy(strings.Repeat("x", 2000), nil), 400, "about:blank", "", ""},
		{"store down", httplimit.Middleware(sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(brokenStore{failing})))(served), 503, types + "temporary-reduced-capacity", "1", ""},
	} {
		res := serve(c.h, request("192.0.2.1:1", "Accept", "*/*"))
		wantStatus(t, c.name, res, c.status)
		var p struct {
			Type, Title string
			Status      int
			Violated    []string `json:"violated-policies"`
		}
		if err := json.Unmarshal([]byte(body(t, res)), &p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if p.Type != c.kind || p.Status != c.status || p.Title == "" || strings.Join(p.Violated, ",") != c.policy {
			t.Errorf("%s: %+v", c.name, p)
		}
		h := res.Header
		if h.Get("Retry-After") != c.retry || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v", c.name, h)
		}
	}
}

// spent returns a handler whose budget of 192.0.2.1 is used up.
func spent(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	wantStatus(t, "first", serve(h, request("192.0.2.1:1")), http.StatusOK)
	return h
}

func keyedBy(key string, err error) http.Handler {
	by := httplimit.KeyBy(func(*http.Request) (string, error) { return key, err })
	return httplimit.Middleware(sluice.NewKeyed(sluice.PerMinute(1)), by, httplimit.OnError(httplimit.FailOpen))(served)
}

// TestWaitingPage: what a browser gets.
func TestWaitingPage(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1))(served))
	for method, want := range map[string]string{"GET": `data-reload="yes"`, "POST": `data-reload="no"`} {
		r := request("192.0.2.1:1", "Accept", browser)
		r.Method = method
		res := serve(h, r)
		wantStatus(t, method, res, 429)
		text := body(t, res)
		if !strings.Contains(text, want) || !strings.Contains(text, `data-seconds="60"`) || strings.Contains(text, "{") && strings.Contains(text, "{title}") {
			t.Errorf("%s: %s", method, text)
		}
		if refreshes := strings.Contains(text, `http-equiv="refresh" content="60"`); refreshes != (method == "GET") {
			t.Errorf("%s: refresh %v", method, refreshes)
		}
		for _, outside := range []string{"http://", "https://", "src=", "href=", "url("} {
			if strings.Contains(text, outside) {
				t.Errorf("the page needs something else: %s", outside)
			}
		}
		if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Error(csp)
		}
		if res.Header.Get("Content-Length") != strconv.Itoa(len(text)) {
			t.Error("Content-Length is wrong")
		}
	}
}

func TestBannedPageDoesNotReload(t *testing.T) {
	text := body(t, serve(httplimit.ByIP(sluice.MustParse("0/s"))(served), request("192.0.2.1:1", "Accept", browser)))
	if !strings.Contains(text, `data-seconds="0"`) || strings.Contains(text, "refresh") || strings.Contains(text, `data-reload="yes"`) {
		t.Error(text)
	}
}

// TestAccept: who asks for a page gets one, everybody else JSON.
func TestAccept(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1))(served))
	for accept, html := range map[string]bool{
		browser: true, "text/html": true, "TEXT/HTML;level=1": true, "text/html;q=0.5, */*": true, "text/html, application/json": true,
		"application/json;q=0.5, text/html": true, "": false, "*/*": false, "text/*": false, "application/json": false,
		"application/json, text/html": false, "text/html;q=0": false, "text/html;q=0.5, application/problem+json": false, "text/html;q=x": false, "text/htmlx": false,
	} {
		got := serve(h, request("192.0.2.1:1", "Accept", accept)).Header.Get("Content-Type")
		if strings.HasPrefix(got, "text/html") != html {
			t.Errorf("%q: %s", accept, got)
		}
	}
}

func TestNoPage(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1), httplimit.NoPage())(served))
	if got := serve(h, request("192.0.2.1:1", "Accept", browser)).Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a browser gets %s", got)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1))(served))
	for _, accept := range []string{browser, "*/*"} {
		r := request("192.0.2.1:1", "Accept", accept)
		r.Method = http.MethodHead
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 429 || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
			t.Errorf("%d %d bytes", w.Code, w.Body.Len())
		}
	}
}

// TestRetryAfter: rounded up, never before it helps, with jitter never more than asked.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := spent(t, httplimit.ByIP(sluice.Per(1, 10*time.Second), httplimit.Jitter(0.5))(served))
		time.Sleep(1500 * time.Millisecond) // 8.5 s are left
		seen := map[string]bool{}
		for range 200 {
			res := serve(h, request("192.0.2.1:1"))
			seen[res.Header.Get("Retry-After")] = true
			if got := res.Header.Get("RateLimit"); got != `"default";r=0;t=9` {
				t.Fatal(got)
			}
		}
		for after := range seen {
			if n, err := strconv.Atoi(after); err != nil || n < 9 || n > 14 {
				t.Errorf("Retry-After: %s", after)
			}
		}
		if len(seen) < 4 {
			t.Errorf("hardly any jitter: %v", seen)
		}
		time.Sleep(9 * time.Second)
		wantStatus(t, "then", serve(h, request("192.0.2.1:1")), http.StatusOK)
	})
}

func TestDenied(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerMinute(1), httplimit.Denied(func(w http.ResponseWriter, _ *http.Request, d engine.Decision) {
		w.WriteHeader(httplimit.Status(d.Decision) + 1)
		_, _ = fmt.Fprint(w, d.LimitName, " ", d.Reason)
	}))(served))
	res := serve(h, request("192.0.2.1:1"))
	if text := body(t, res); res.StatusCode != 430 || text != "default limited" || res.Header.Get("Retry-After") != "60" {
		t.Error(res.StatusCode, text, res.Header)
	}
}
