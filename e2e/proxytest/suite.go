package proxytest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Setup is a proxy under test, with sluice, by the rules of the examples, and an
// application behind it.
type Setup struct {
	Proxy  string // host:port
	Sluice *Process
	App    *App
	Pages  bool // browsers get the page that waits
}

// Run is the suite. Every case starts anew.
func Run(t *testing.T, start func(t *testing.T) Setup) {
	for name, test := range map[string]func(*testing.T, Setup){
		"allowed": allowed, "refused": refused, "clients": clients, "spoofed": spoofed, "head": head, "browser": browser,
		"paths": paths, "bodies": bodies, "own refusals": ownRefusals, "upgrade": upgraded, "keep-alive": keepAlive, "cross origin": crossOrigin, "no host": noHost,
	} {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func allowed(t *testing.T, s Setup) {
	r := NewClient(t, s.Proxy, "127.0.0.1").Do("GET", "/a?b=c", "")
	if r.StatusCode != http.StatusOK || r.Text != "GET /a?b=c, body 0" {
		t.Errorf("status %d, body %q", r.StatusCode, r.Text)
	}
	if got := r.Header.Get("RateLimit"); got != `"everything";r=99;t=72` {
		t.Errorf("RateLimit is %q", got)
	}
	if got := r.Header.Get("RateLimit-Policy"); got != `"everything";q=50;w=3600;sluice-burst=100` {
		t.Errorf("RateLimit-Policy is %q", got)
	}
}

// logins is how many logins the rules allow.
const logins = 5

// exhaust uses up the logins of a client.
func exhaust(t *testing.T, c *Client) {
	t.Helper()
	for range logins {
		if r := c.Do("POST", "/login", "user=ann"); r.StatusCode != http.StatusOK {
			t.Fatalf("a login that is allowed gets %d: %s", r.StatusCode, r.Text)
		}
	}
}

func refused(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	exhaust(t, c)
	r := c.Do("POST", "/login", "user=ann")
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("status %d, type %q", r.StatusCode, r.Header.Get("Content-Type"))
	}
	retry, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || retry <= 600 || retry > 720 { // there is one more every 12 minutes
		t.Errorf("Retry-After is %q", r.Header.Get("Retry-After"))
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"RateLimit": fmt.Sprintf(`"login:5/h";r=0;t=%d`, retry), "RateLimit-Policy": `"login:5/h";q=5;w=3600, "login:50/h";q=50;w=3600`,
		"X-Sluice-Status": "", "X-Sluice-Body": "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	var body struct {
		Status   int
		Detail   string
		Violated []string `json:"violated-policies"`
	}
	if err := json.Unmarshal([]byte(r.Text), &body); err != nil || body.Status != 429 || body.Detail != fmt.Sprintf("Try again in %d s.", retry) || len(body.Violated) != 1 {
		t.Errorf("body %q: %v", r.Text, err)
	}
	if n := s.App.Seen("POST /login"); n != logins {
		t.Errorf("%d logins have reached the application", n)
	}
}

// clients have budgets of their own.
func clients(t *testing.T, s Setup) {
	exhaust(t, NewClient(t, s.Proxy, "127.0.0.1"))
	exhaust(t, NewClient(t, s.Proxy, "127.0.0.2"))
}

// spoofed: whatever a client says about itself, it stays the same client, and nobody
// else pays.
func spoofed(t *testing.T, s Setup) {
	c, victim := NewClient(t, s.Proxy, "127.0.0.1"), NewClient(t, s.Proxy, "127.0.0.2")
	exhaust(t, c)
	for _, name := range []string{
		"X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Uri", "X-Original-URI", "X-Forwarded-Method", "X-Original-Method",
		"X-Forwarded-Host", "X-Original-Host", "X_Forwarded_For", "X_Real_IP", "X-Sluice-Status", "X-Original-Length",
	} {
		for _, value := range []string{"127.0.0.2", "for=127.0.0.2", "/elsewhere", "GET", "127.0.0.2, 127.0.0.2", "nonsense", strings.Repeat("9", 4000)} {
			for _, extra := range []string{"X-Other: 1", name + ": " + value, "Connection: " + name} {
				if r := c.Raw("POST /login", name+": "+value, extra); r.StatusCode != http.StatusTooManyRequests {
					t.Errorf("%s: %.20q and %.40q: status %d, want 429", name, value, extra, r.StatusCode)
				}
			}
		}
	}
	exhaust(t, victim)
}

func head(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	var r Reply
	for range 101 {
		if r = c.Do("HEAD", "/", ""); r.StatusCode != http.StatusOK {
			break
		}
	}
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
}

func browser(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	exhaust(t, c)
	r := c.Do("POST", "/login", "", "Accept", "text/html,*/*;q=0.8")
	if html := strings.HasPrefix(r.Header.Get("Content-Type"), "text/html"); r.StatusCode != 429 || html != s.Pages || html != strings.Contains(r.Text, "<html") {
		t.Errorf("status %d, type %q: %s", r.StatusCode, r.Header.Get("Content-Type"), r.Text)
	}
}

// paths: other ways to write a path are the same path, or are refused.
func paths(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	exhaust(t, c)
	for _, target := range []string{
		"/login", "/login/", "//login", "/./login", "/x/../login", "/%6cogin", "/login?x=1", "/login#x", "/login%2f", "/login;x",
		`/login\`, "/login%00", "/%2e/login", "/x/%2e%2e/login", "http://app.example/login", "/login%zz",
	} {
		r := c.Raw("POST " + target)
		if target == "/login#x" && s.App.Seen("POST /login%23x") == 1 {
			continue // to the application it is another path too
		}
		if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusBadRequest {
			t.Errorf("POST %s: status %d", target, r.StatusCode)
		}
	}
	if n := s.App.Seen("POST ") - s.App.Seen("POST /login%23x"); n != logins {
		t.Errorf("%d requests have reached the application", n)
	}
}

// bodies reach the application as they are.
func bodies(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	for _, size := range []int{0, 1, 900_000} {
		want := fmt.Sprintf("PUT /file, body %d", size)
		if r := c.Do("PUT", "/file", strings.Repeat("x", size)); r.Text != want {
			t.Errorf("%q, want %q", r.Text, want)
		}
	}
}

// ownRefusals of the application are not touched.
func ownRefusals(t *testing.T, s Setup) {
	r := NewClient(t, s.Proxy, "127.0.0.1").Do("GET", "/forbidden", "")
	if r.StatusCode != http.StatusForbidden || r.Text != "the application says no\n" || r.Header.Get("RateLimit") == "" {
		t.Errorf("status %d, body %q, RateLimit %q", r.StatusCode, r.Text, r.Header.Get("RateLimit"))
	}
}

// upgraded connections, as WebSocket has them, go through.
func upgraded(t *testing.T, s Setup) {
	conn := NewClient(t, s.Proxy, "127.0.0.1").Connect()
	defer conn.Close()
	fmt.Fprint(conn, "GET /socket HTTP/1.1\r\nHost: app.example\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", res, err)
	}
	echo := make([]byte, 4)
	fmt.Fprint(conn, "ping")
	if _, err := io.ReadFull(in, echo); err != nil || string(echo) != "ping" {
		t.Errorf("%q, %v", echo, err)
	}
}

// keepAlive: a refusal does not cost the client its connection.
func keepAlive(t *testing.T, s Setup) {
	conn := NewClient(t, s.Proxy, "127.0.0.1").Connect()
	defer conn.Close()
	in := bufio.NewReader(conn)
	for i := range 2 * logins {
		fmt.Fprint(conn, "POST /login HTTP/1.1\r\nHost: app.example\r\nContent-Length: 4\r\n\r\nbody")
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i+1, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if want := i >= logins; (res.StatusCode == http.StatusTooManyRequests) != want {
			t.Errorf("request %d: status %d", i+1, res.StatusCode)
		}
	}
}

// crossOrigin: scripts of other origins can read the fields.
func crossOrigin(t *testing.T, s Setup) {
	c := NewClient(t, s.Proxy, "127.0.0.1")
	const want = "RateLimit, RateLimit-Policy, Retry-After"
	if got := c.Do("GET", "/", "", "Origin", "https://other.example").Header.Get("Access-Control-Expose-Headers"); got != want {
		t.Errorf("allowed: %q", got)
	}
	exhaust(t, c)
	if got := c.Do("POST", "/login", "", "Origin", "https://other.example").Header.Get("Access-Control-Expose-Headers"); got != want {
		t.Errorf("refused: %q", got)
	}
}

// noHost: clients of HTTP/1.0 are served too.
func noHost(t *testing.T, s Setup) {
	conn := NewClient(t, s.Proxy, "127.0.0.1").Connect()
	defer conn.Close()
	fmt.Fprint(conn, "GET /old HTTP/1.0\r\nX-Forwarded-Host: forged\r\nX-Original-Host: forged\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("RateLimit") == "" {
		t.Errorf("%v, %v", res, err)
	}
}
