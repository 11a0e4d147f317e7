package forwardauth_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/forwardauth"
	"github.com/sluice-limiter/sluice/store/memstore"
)

const proxy = "127.0.0.1:4711" // which is trusted, if a test does not say otherwise

// rules allow two logins, and ten of everything else, to each address.
func rules() rule.Config {
	return rule.Config{Rules: []rule.Rule{
		{
			Name: "login", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerHour(2)}},
			Match: rule.Match{Methods: []string{"POST"}, Paths: []string{"/login"}, Hosts: []string{"a.example"}},
		},
		{Name: "all", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerHour(10)}}},
	}}
}

// newEngine runs rules in a world where time stands still.
func newEngine(t testing.TB, c rule.Config) *engine.Engine {
	t.Helper()
	set, err := rule.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	e, err := engine.New(set, memstore.New(memstore.WithClock(now)), engine.WithClock(now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// newHandler trusts these networks, or else loopback addresses.
func newHandler(t testing.TB, c rule.Config, change func(*forwardauth.Options)) http.Handler {
	t.Helper()
	trusted, err := httplimit.ParsePrefixes("127.0.0.0/8", "::1")
	if err != nil {
		t.Fatal(err)
	}
	o := forwardauth.Options{Trusted: trusted}
	if change != nil {
		change(&o)
	}
	return forwardauth.New(newEngine(t, c), o)
}

// fields are the names that a dialect has for method, target, host and address.
var fields = map[string][4]string{
	"nginx":   {"X-Original-Method", "X-Original-URI", "X-Original-Host", "X-Real-IP"},
	"caddy":   {"X-Forwarded-Method", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-For"},
	"haproxy": {"X-Forwarded-Method", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-For"},
	"traefik": {"X-Forwarded-Method", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-For"},
}

// question is what a proxy asks about a request.
func question(dialect, method, target, client string) *http.Request {
	r := httptest.NewRequest("GET", forwardauth.Prefix+dialect, nil)
	r.RemoteAddr, r.Host = proxy, "sluice"
	f := fields[dialect]
	for i, value := range []string{method, target, "a.example", client} {
		r.Header.Set(f[i], value)
	}
	return r
}

// reply is an answer as the client gets it in the end.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask returns the answer. That of nginx is put together again as its settings do it.
func ask(t testing.TB, h http.Handler, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := reply{res.StatusCode, res.Header, string(body)}
	if status := res.Header.Get(forwardauth.StatusField); status != "" {
		if res.StatusCode != http.StatusForbidden || got.body != "" {
			t.Errorf("nginx gets status %d and body %q", res.StatusCode, body)
		}
		got.status, got.body = number(t, status), res.Header.Get(forwardauth.BodyField)
	}
	return got
}

func number(t testing.TB, text string) (n int) {
	t.Helper()
	for _, c := range text {
		n = 10*n + int(c-'0')
	}
	if n < 400 || n > 599 {
		t.Errorf("status %q", text)
	}
	return n
}
