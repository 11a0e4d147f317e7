package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// mirror answers with what it got.
func mirror(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Connection", "X-Private")
		w.Header().Set("X-Private", "for the neighbour")
		_ = json.NewEncoder(w).Encode(seen{r.Method, r.RequestURI, r.Host, r.Header, string(body), r.Trailer})
	}))
	t.Cleanup(s.Close)
	return s
}

type seen struct {
	Method, URI, Host string
	Header            http.Header
	Body              string
	Trailer           http.Header
}

func (r *running) mirrored(request *http.Request) (s seen) {
	r.t.Helper()
	res, text := r.do(request)
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		r.t.Fatalf("%s: %s %v", res.Status, text, err)
	}
	return s
}

func request(t *testing.T, method, url, body string, fields ...string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "Host" {
			r.Host = fields[i+1]
		}
		r.Header[fields[i]] = append(r.Header[fields[i]], fields[i+1])
	}
	return r
}

// Both ways to an upstream send the same: the quick one without a body, and the other.
func TestWhatUpstreamsGet(t *testing.T) {
	up := mirror(t)
	for _, way := range []struct{ method, body string }{{"GET", ""}, {"POST", "content"}, {"DELETE", ""}} {
		t.Run(way.method, func(t *testing.T) {
			g := start(t, single(up.URL))
			s := g.mirrored(request(t, way.method, g.url+"/a%2Fb//c%20d?x=%41&y=1;z", way.body, "Host", "shop.example.com",
				"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example", "X-Forwarded-Port", "1",
				"Forwarded", "for=203.0.113.9", "X-Real-Ip", "203.0.113.9", "X_Forwarded_For", "203.0.113.9", "X_real_ip", "203.0.113.9",
				"Connection", "Keep-Alive, X-Drop , x-forwarded-for", "X-Drop", "me", "Proxy-Authorization", "Basic eA==", "Te", "trailers, deflate", "Keep-Alive", "5",
				"X-Keep", "one", "X-Keep", "two"))
			if s.Method != way.method || s.URI != "/a%2Fb//c%20d?x=%41&y=1;z" || s.Host != "shop.example.com" || s.Body != way.body {
				t.Errorf("%+v", s)
			}
			for name, want := range map[string][]string{
				"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Proto": {"http"}, "X-Forwarded-Host": {"shop.example.com"}, "X-Real-Ip": {"127.0.0.1"},
				"Forwarded": {`for=127.0.0.1;host="shop.example.com";proto=http`}, "Via": {"1.1 sluice"}, "Te": {"trailers"}, "X-Keep": {"one", "two"},
				"X-Drop": nil, "X-Forwarded-Port": nil, "X_forwarded_for": nil, "X_real_ip": nil, "Proxy-Authorization": nil, "Keep-Alive": nil, "Connection": nil,
			} {
				if got := s.Header[name]; !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestTrustedProxies(t *testing.T) {
	up := mirror(t)
	g := start(t, fmt.Sprintf("gateway: {trusted: [127.0.0.0/8, 10.0.0.0/8], user_header: X-User, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	s := g.mirrored(request(t, "GET", g.url+"/", "", "X-Forwarded-For", "203.0.113.9, 10.0.0.7", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "shop.example.com",
		"Forwarded", "for=203.0.113.9", "X-Real-Ip", "198.51.100.1", "X-User", "ann"))
	for name, want := range map[string]string{
		"X-Forwarded-For": "203.0.113.9, 10.0.0.7, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example.com",
		"X-Real-Ip": "203.0.113.9", "Forwarded": fmt.Sprintf(`for=203.0.113.9, for=127.0.0.1;host="%s";proto=http`, g.address), "X-User": "ann",
	} {
		if got := s.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// What Connection names was not said by the proxy: the chain begins anew.
	s = g.mirrored(request(t, "GET", g.url+"/", "", "X-Forwarded-For", "203.0.113.9", "Connection", "X-Forwarded-For"))
	if got := s.Header.Get("X-Forwarded-For"); got != "127.0.0.1" {
		t.Errorf("X-Forwarded-For: %q", got)
	}
	untrusting := start(t, fmt.Sprintf("gateway: {trusted: [10.0.0.0/8], user_header: X-User, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	if s := untrusting.mirrored(request(t, "GET", untrusting.url+"/", "", "X-User", "ann")); s.Header.Get("X-User") != "" {
		t.Error("a stranger names the user")
	}
}

func TestAnswersComeBackWhole(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/same":
			w.WriteHeader(http.StatusNotModified)
		case "/early":
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			_, _ = io.WriteString(w, "late")
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "42")
			w.Header().Set(http.TrailerPrefix+"X-Unannounced", "7")
		default:
			w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
			w.Header()["X-Two"] = []string{"a", "b"}
			w.Header().Set("Content-Length", "5")
			if r.Method != http.MethodHead {
				_, _ = io.WriteString(w, "hello")
			}
		}
	}))
	defer up.Close()
	g := start(t, single(up.URL))
	for range 2 { // over a fresh connection, and over the same again
		if res, text := g.get("/"); text != "hello" || !slices.Equal(res.Header["X-Two"], []string{"a", "b"}) {
			t.Errorf("%v %q", res.Header, text)
		}
		if res, text := g.do(request(t, "HEAD", g.url+"/", "")); text != "" || res.ContentLength != 5 {
			t.Errorf("%v %q", res.ContentLength, text)
		}
		for path, status := range map[string]int{"/none": 204, "/same": 304, "/early": 200} {
			if res, _ := g.get(path); res.StatusCode != status {
				t.Errorf("%s: %s", path, res.Status)
			}
		}
		res, text := g.get("/trailer")
		if text != "body" || res.Trailer.Get("X-Sum") != "42" || res.Trailer.Get("X-Unannounced") != "7" {
			t.Errorf("%q, trailer %v", text, res.Trailer)
		}
	}
	if text := g.raw("GET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(text, "HTTP/1.1 103 Early Hints\r\nLink:") ||
		strings.Count(text, "Link:") != 1 || !strings.Contains(text, "HTTP/1.1 200 OK") {
		t.Errorf("%q", text)
	}
}

func TestTrailersOfRequests(t *testing.T) {
	up := mirror(t)
	g := start(t, single(up.URL))
	r := request(t, "POST", g.url+"/", "content")
	r.ContentLength = -1
	r.Trailer = http.Header{"X-Sum": {"42"}}
	if s := g.mirrored(r); s.Body != "content" || s.Trailer.Get("X-Sum") != "42" {
		t.Errorf("%+v", s)
	}
}

func TestRoutes(t *testing.T) {
	var servers []any
	for _, name := range []string{"api", "web", "shop"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name+" "+r.RequestURI) }))
		defer s.Close()
		servers = append(servers, s.URL)
	}
	g := start(t, fmt.Sprintf(`
gateway:
  upstreams:
    - {name: api, servers: [%q]}
    - {name: web, servers: [%q]}
    - {name: shop, servers: [%q]}
  routes:
    - {hosts: [www.example.com], prefix: /api, upstream: api, strip: true}
    - {hosts: [www.example.com], upstream: web}
    - {hosts: ["*.shop.example.com"], upstream: shop}
    - {prefix: /api/v2, upstream: shop}
    - {prefix: /api, upstream: api}
`, servers...))
	for _, c := range []struct{ host, path, want string }{
		{"www.example.com", "/api/x?y=1", "api /x?y=1"},
		{"WWW.example.com.:8000", "/api", "api /"},
		{"www.example.com", "/apis", "web /apis"},
		{"www.example.com", "/%61pi/x", "api /x"},
		{"a.shop.example.com", "/api", "shop /api"},
		{"shop.example.com", "/api/", "api /api/"},
		{"other", "/api/v2/x", "shop /api/v2/x"},
		{"other", "/api/v2x", "api /api/v2x"},
		{"other", "//api//v2/x", "shop //api//v2/x"},
		{"other", "/", "404"},
		{"other", "/x/../api", "api /x/../api"},
		{"other", "/api%2fv2", "400"},
		{"other", "/api/..%2f..", "400"},
	} {
		text := g.raw("GET " + c.path + " HTTP/1.1\r\nHost: " + c.host + "\r\nConnection: close\r\n\r\n")
		if !strings.HasSuffix(text, "\r\n\r\n"+c.want) && !strings.HasPrefix(text, "HTTP/1.1 "+c.want) {
			t.Errorf("%s %s: %q, want %s", c.host, c.path, text, c.want)
		}
	}
}

func TestWhatIsNotPassedOn(t *testing.T) {
	up := mirror(t)
	g := start(t, fmt.Sprintf("gateway: {limits: {body: 10B}, upstreams: [{name: app, servers: [%q]}]}", up.URL))
	for _, c := range []struct{ head, body, want string }{
		{"OPTIONS * HTTP/1.1", "", "400 invalid-target"},
		{"TRACE / HTTP/1.1", "", "405 method-not-allowed"},
		{"CONNECT example.com:443 HTTP/1.1", "", "405 method-not-allowed"},
		{"POST / HTTP/1.1\r\nContent-Length: 11", "", "413 body-too-large"},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked", "b\r\n01234567890\r\n0\r\n\r\n", "413 body-too-large"},
	} {
		head, more, _ := strings.Cut(c.head, "\r\n")
		text := g.raw(head + "\r\nHost: x\r\nConnection: close\r\n" + strings.TrimPrefix(more+"\r\n", "\r\n") + "\r\n" + c.body)
		status, word, _ := strings.Cut(c.want, " ")
		if !strings.HasPrefix(text, "HTTP/1.1 "+status) || !strings.Contains(text, "urn:sluice:problem:"+word) || !strings.Contains(text, "application/problem+json") {
			t.Errorf("%s: %q, want %s", c.head, text, c.want)
		}
	}
	if s := g.engine.Stats(); s.Requests != 5 {
		t.Errorf("the rules saw %d requests of 5", s.Requests)
	}
}

func TestRulesComeFirst(t *testing.T) {
	asked := 0
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++ }))
	defer up.Close()
	g := start(t, single(up.URL)+"\nrules: [{name: all, key: [ip], limits: [2/h]}]\n")
	for i, want := range []int{200, 200, 429, 429} {
		if res, _ := g.get("/"); res.StatusCode != want {
			t.Errorf("request %d: %s", i, res.Status)
		}
	}
	if asked != 2 {
		t.Errorf("the upstream was asked %d times", asked)
	}
}
