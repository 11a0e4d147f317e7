package forwardauth_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/forwardauth"
)

// TestAnswers: in every dialect a client gets what httplimit would have told it.
func TestAnswers(t *testing.T) {
	for name := range fields {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, rules(), nil)
			for i, want := range []string{`"login";r=1;t=1800`, `"login";r=0;t=1800`} {
				got := ask(t, h, question(name, "POST", "/login?x=1", "192.0.2.1"))
				if got.status != http.StatusNoContent || got.header.Get("RateLimit") != want || got.body != "" {
					t.Errorf("request %d: %+v", i+1, got)
				}
			}
			got := ask(t, h, question(name, "POST", "/login", "192.0.2.1"))
			if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1800" || got.header.Get("RateLimit") != `"login";r=0;t=1800` {
				t.Errorf("refused: %+v", got)
			}
			var body struct{ Detail string }
			if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Detail != "Try again in 1800 s." {
				t.Errorf("body %q: %v", got.body, err)
			}
			for _, other := range []*http.Request{
				question(name, "POST", "/login", "192.0.2.2"), question(name, "GET", "/login", "192.0.2.1"), question(name, "POST", "/logout", "192.0.2.1"),
			} {
				if got := ask(t, h, other); got.status != http.StatusNoContent {
					t.Errorf("another request: %+v", got)
				}
			}
		})
	}
}

// TestBrowsers get a page from proxies that pass bodies on.
func TestBrowsers(t *testing.T) {
	for name := range fields {
		h := newHandler(t, rules(), nil)
		var got reply
		for range 3 {
			r := question(name, "POST", "/login", "192.0.2.1")
			r.Header.Set("Accept", "text/html")
			got = ask(t, h, r)
		}
		if html := strings.Contains(got.body, "<html"); got.status != 429 || html == (name == "nginx") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestHead: the proxy asks by GET, and must not be told of a body that does not come.
func TestHead(t *testing.T) {
	for name := range fields {
		h := newHandler(t, rules(), nil)
		var got reply
		for range 11 {
			got = ask(t, h, question(name, "HEAD", "/", "192.0.2.1"))
		}
		if length := got.header.Get("Content-Length"); got.status != 429 || got.body != "" || length != "" && length != "0" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestUntrusted: nobody else is believed, and nothing is charged.
func TestUntrusted(t *testing.T) {
	nobody := func(o *forwardauth.Options) { o.Trusted = nil }
	for _, c := range []struct {
		remote string
		change func(*forwardauth.Options)
	}{
		{"192.0.2.9:1", nil},
		{"[2001:db8::1]:1", nil},
		{"[::ffff:192.0.2.9]:1", nil},
		{"@", nil},
		{"", nil},
		{proxy, nobody},
	} {
		for name := range fields {
			h := newHandler(t, rules(), c.change)
			for range 20 {
				r := question(name, "POST", "/login", "192.0.2.1")
				r.RemoteAddr = c.remote
				if got := ask(t, h, r); got.status != http.StatusForbidden || !strings.Contains(got.body, "--forward-auth-trusted") || got.header.Get("RateLimit") != "" {
					t.Fatalf("%s from %q: %+v", name, c.remote, got)
				}
			}
			if c.change != nil {
				continue
			}
			if got := ask(t, h, question(name, "POST", "/login", "192.0.2.1")); got.status != http.StatusNoContent {
				t.Errorf("%s: somebody was charged: %+v", name, got)
			}
		}
	}
	mapped := question("nginx", "GET", "/", "192.0.2.1")
	mapped.RemoteAddr = "[::ffff:127.0.0.1]:4711"
	if got := ask(t, newHandler(t, rules(), nil), mapped); got.status != http.StatusNoContent {
		t.Errorf("a trusted proxy, written as IPv6: %+v", got)
	}
}

// TestMisconfigured: a proxy that does not say all, or says something twice, lets nobody
// pass, and its operator is told.
func TestMisconfigured(t *testing.T) {
	if got := ask(t, newHandler(t, rules(), nil), question("nginx", "GET", "/", "x, 192.0.2.1")); got.status != http.StatusInternalServerError {
		t.Errorf("a list where there is one address: %+v", got)
	}
	for name, names := range fields {
		for i, field := range names {
			for what, change := range map[string]func(h http.Header){
				"missing": func(h http.Header) { h.Del(field) },
				"empty":   func(h http.Header) { h.Set(field, "") },
				"twice":   func(h http.Header) { h.Add(field, h.Get(field)) },
			} {
				if what == "twice" && field == "X-Forwarded-For" {
					continue // that is a list, over any number of lines
				}
				if what != "twice" && i == 2 {
					continue // not every request has a host: see TestNoHost
				}
				var log bytes.Buffer
				h := newHandler(t, rules(), func(o *forwardauth.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				r := question(name, "POST", "/login", "192.0.2.1")
				change(r.Header)
				got := ask(t, h, r)
				if got.status != http.StatusInternalServerError || !strings.Contains(got.body, http.CanonicalHeaderKey(field)) || !strings.Contains(log.String(), "dialect="+name) {
					t.Errorf("%s, field %d %s: %+v, log %q", name, i, what, got, &log)
				}
			}
		}
		for _, client := range []string{"unknown", "unix:", "0.0.0.0", "192.0.2.256", "010.0.0.1", "_hidden", "192.0.2.1,", "192.0.2.7, x", ""} {
			if got := ask(t, newHandler(t, rules(), nil), question(name, "GET", "/", client)); got.status != http.StatusInternalServerError {
				t.Errorf("%s, client %q: %+v", name, client, got)
			}
		}
	}
}

// TestNoHost: an HTTP/1.0 client need not say one, and rules for a host are not for it.
func TestNoHost(t *testing.T) {
	for name, names := range fields {
		h := newHandler(t, rules(), nil)
		for _, change := range []func(http.Header){
			func(h http.Header) { h.Del(names[2]) },
			func(h http.Header) { h.Set(names[2], "") },
		} {
			r := question(name, "POST", "/login", "192.0.2.1")
			change(r.Header)
			if got := ask(t, h, r); got.status != http.StatusNoContent || !strings.HasPrefix(got.header.Get("RateLimit"), `"all"`) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestWarnings are few, however often something is wrong.
func TestWarnings(t *testing.T) {
	var log bytes.Buffer
	h := newHandler(t, rules(), func(o *forwardauth.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 1000 {
		r := question("caddy", "GET", "/", "192.0.2.1")
		r.RemoteAddr = "192.0.2.9:1"
		ask(t, h, r)
	}
	if n := strings.Count(log.String(), "\n"); n < 1 || n > 50 {
		t.Errorf("%d lines", n)
	}
}

// TestClients: who is charged.
func TestClients(t *testing.T) {
	for _, c := range []struct {
		dialect, first, second string
		same                   bool
	}{
		{"nginx", "192.0.2.1", "192.0.2.2", false},
		{"nginx", "192.0.2.1", "::ffff:192.0.2.1", true},
		{"nginx", "2001:db8::1", "2001:db8::2", true}, // one /64
		{"nginx", "2001:db8::1", "2001:db8:0:1::1", false},
		{"nginx", "127.0.0.1", "127.0.0.2", false}, // clients on this machine
		{"caddy", "192.0.2.1", "192.0.2.2", false},
		{"caddy", "127.0.0.1", "127.0.0.2", false},
		{"caddy", "203.0.113.1, 192.0.2.1", "203.0.113.2, 192.0.2.1", true}, // only the right end is the proxy's
		{"caddy", "192.0.2.1, 127.0.0.5", "192.0.2.2, 127.0.0.5", false},    // behind another trusted proxy
		{"caddy", "203.0.113.1, 192.0.2.1, 127.0.0.5", "203.0.113.2, 192.0.2.1, 127.0.0.5", true},
		{"traefik", "192.0.2.1", "192.0.2.2", false},
		{"traefik", "x, 192.0.2.1", "y, 192.0.2.1", true},
	} {
		h := newHandler(t, rules(), nil)
		for range 2 {
			ask(t, h, question(c.dialect, "POST", "/login", c.first))
		}
		if got := ask(t, h, question(c.dialect, "POST", "/login", c.second)); (got.status == 429) != c.same {
			t.Errorf("%s: %q and then %q: status %d", c.dialect, c.first, c.second, got.status)
		}
	}
}

// TestForeignFields: those of another dialect are nobody's to set.
func TestForeignFields(t *testing.T) {
	for name := range fields {
		h := newHandler(t, rules(), nil)
		var got reply
		for i := range 3 {
			r := question(name, "POST", "/login", "192.0.2.1")
			for other, names := range fields {
				for j, value := range []string{"GET", "/elsewhere", "b.example", "203.0.113." + string(rune('1'+i))} {
					if names != fields[name] && other != name {
						r.Header.Set(names[j], value)
					}
				}
			}
			r.Header.Set("Forwarded", "for=203.0.113.9")
			got = ask(t, h, r)
		}
		if got.status != http.StatusTooManyRequests {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// full has no place for anybody.
type full struct{}

func (full) Enter() bool { return false }
func (full) Leave()      { panic("who did not enter leaves") }

func TestOverload(t *testing.T) {
	for name := range fields {
		h := newHandler(t, rules(), func(o *forwardauth.Options) { o.Places = full{} })
		if got := ask(t, h, question(name, "GET", "/", "192.0.2.1")); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// places counts who is inside.
type places struct{ inside, visitors int }

func (p *places) Enter() bool { p.inside++; p.visitors++; return true }
func (p *places) Leave()      { p.inside-- }

func TestPlacesAreGivenBack(t *testing.T) {
	p := &places{}
	known := 0
	h := newHandler(t, rules(), func(o *forwardauth.Options) { o.Places, o.Known = p, func(*http.Request) { known++ } })
	for range 5 {
		ask(t, h, question("nginx", "POST", "/login", "192.0.2.1"))
	}
	stranger := question("nginx", "POST", "/login", "192.0.2.1")
	stranger.RemoteAddr = "192.0.2.9:1"
	ask(t, h, stranger)
	if p.inside != 0 || p.visitors != 5 || known != 5 {
		t.Errorf("%d inside, %d visitors, %d known", p.inside, p.visitors, known)
	}
}

func TestUnknownDialect(t *testing.T) {
	h := newHandler(t, rules(), nil)
	for _, path := range []string{"", "envoy", "nginx/", "NGINX"} {
		r := question("nginx", "GET", "/", "192.0.2.1")
		r.URL.Path = forwardauth.Prefix + path
		if got := ask(t, h, r); got.status != http.StatusNotFound || !strings.Contains(got.body, "/forward-auth/caddy") {
			t.Errorf("%q: %+v", path, got)
		}
	}
}

// TestLength: where a rule charges by the length of the body, one that is not told is
// the longest.
func TestLength(t *testing.T) {
	byLength := rule.Config{Rules: []rule.Rule{{
		Name: "upload", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerHour(100)}}, Cost: rule.Cost{Fixed: 1, Bytes: 1000, Max: 50},
	}}}
	for _, c := range []struct {
		dialect, method, length string
		left                    string
	}{
		{"nginx", "POST", "2500", "97"},
		{"nginx", "POST", "0", "99"},
		{"nginx", "POST", "", "50"},
		{"nginx", "POST", "-1", "50"},
		{"nginx", "POST", "many", "50"},
		{"nginx", "GET", "", "99"},
		{"caddy", "POST", "1", "50"}, // clients could set it
		{"caddy", "GET", "", "99"},
		{"traefik", "PUT", "1", "50"},
	} {
		r := question(c.dialect, c.method, "/", "192.0.2.1")
		if c.length != "" {
			r.Header.Set("X-Original-Length", c.length)
		}
		got := ask(t, newHandler(t, byLength, nil), r).header.Get("RateLimit")
		if !strings.HasPrefix(got, `"upload";r=`+c.left+";") {
			t.Errorf("%s %s, length %q: %s", c.dialect, c.method, c.length, got)
		}
	}
}

// TestPreflight: such a request counts. Whether it has a body, and so is none, is not
// known here.
func TestPreflight(t *testing.T) {
	for name := range fields {
		h := newHandler(t, rules(), nil)
		var got reply
		for range 11 {
			r := question(name, "OPTIONS", "/", "192.0.2.1")
			r.Header.Set("Origin", "https://b.example")
			r.Header.Set("Access-Control-Request-Method", "PUT")
			got = ask(t, h, r)
		}
		if got.status != http.StatusTooManyRequests {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTargets: a request is decided as if httplimit stood before the application. What
// that would never see, because Go's server refuses it, is refused here.
func TestTargets(t *testing.T) {
	for _, target := range []string{
		"/login", "/login/", "//login", "/./login", "/a/../login", "/%6cogin", "/login?a=b", "/login%2f", "/login;x", `/login\`, "/login%00",
		"/LOGIN", "/login%3f", "/login%23", "/login//", "/x/%2e%2e/login", "/\xc3\xbc", "/lo gin", "/" + strings.Repeat("x", 8000),
	} {
		for name := range fields {
			h, e := newHandler(t, rules(), nil), newEngine(t, rules())
			direct := httplimit.Rules(e)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
			for range 3 {
				q := question(name, "POST", target, "192.0.2.1")
				got, want := ask(t, h, q), ask(t, direct, plainRequest(t, target))
				if got.status != want.status || got.header.Get("RateLimit") != want.header.Get("RateLimit") {
					t.Errorf("%s, %.40q: status %d, %s; without a proxy %d, %s", name, target, got.status, got.header.Get("RateLimit"), want.status, want.header.Get("RateLimit"))
				}
			}
		}
	}
	for _, target := range []string{"login", "*", "http://a.example/login", "/login#x", "/a?b#c", "/%zz", "/a\x7fb", "?x"} {
		for name := range fields {
			if got := ask(t, newHandler(t, rules(), nil), question(name, "POST", target, "192.0.2.1")); got.status != http.StatusBadRequest {
				t.Errorf("%s, %q: %+v", name, target, got)
			}
		}
	}
}
