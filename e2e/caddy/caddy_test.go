package caddy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

const (
	example = "examples/caddy"
	rules   = example + "/rules.yaml"

	closed = "Caddyfile" // when sluice is down
	open   = "fail-open.caddyfile"
)

func TestMain(m *testing.M) { program.Main(m) }

// start runs Caddy with a file of the example, before sluice and app at these addresses.
func start(t testing.TB, file, sluice, app string, replace ...string) *proxytest.Process {
	t.Helper()
	return startWith(t, "admin off", file, sluice, app, replace...) // its port is fixed
}

// startWith is start with a global setting.
func startWith(t testing.TB, global, file, sluice, app string, replace ...string) *proxytest.Process {
	t.Helper()
	addr, always := proxytest.FreeAddr(t), proxytest.FreeAddr(t)
	texts := map[string]string{
		"127.0.0.1:8080": sluice, "127.0.0.1:3000": app, "127.0.0.1:8079": always,
		"\n:8079 {\n": "\n" + port(always) + " {\n", "\n:80 {\n": "\n" + port(addr) + " {\n\tbind 127.0.0.1\n",
	}
	for i := 0; i < len(replace); i += 2 {
		texts[replace[i]] = replace[i+1]
	}
	dir := proxytest.Example(t, example, texts)
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("{\n\t"+global+"\n}\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", path)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return proxytest.Start(t, addr, cmd)
}

// port returns an address without its host.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':'):] }

func TestCaddy(t *testing.T) {
	for _, file := range []string{closed, open} {
		t.Run(file, func(t *testing.T) {
			proxytest.Run(t, func(t *testing.T) proxytest.Setup {
				sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
				return proxytest.Setup{Proxy: start(t, file, sluice.Addr, app.Addr).Addr, Sluice: sluice, App: app, Pages: true}
			})
		})
	}
}

// TestShortForm runs forward_auth as most know it. It keeps the header fields of allowed
// requests from clients, and does all else.
func TestShortForm(t *testing.T) {
	sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
	short := "forward_auth " + sluice.Addr + " {\n\t\t\turi /forward-auth/caddy\n\t\t}"
	c := proxytest.NewClient(t, start(t, closed, sluice.Addr, app.Addr, "import sluice", short).Addr, "127.0.0.1")
	for i := range 6 {
		r := c.Do("POST", "/login", "")
		if want := i >= 5; (r.StatusCode == http.StatusTooManyRequests) != want || (r.Header.Get("RateLimit") != "") != want {
			t.Errorf("request %d: status %d, RateLimit %q", i+1, r.StatusCode, r.Header.Get("RateLimit"))
		}
	}
}

func TestQuestion(t *testing.T) {
	begin := func(sluice, app string) *proxytest.Process { return start(t, closed, sluice, app) }
	names := proxytest.Fields{Method: "X-Forwarded-Method", URI: "X-Forwarded-Uri", Host: "X-Forwarded-Host", Client: "X-Forwarded-For"}
	proxytest.Question(t, begin, names, nil)
}

func TestDown(t *testing.T) {
	for file, status := range map[string]int{closed: http.StatusBadGateway, open: http.StatusOK} {
		t.Run(file, func(t *testing.T) {
			begin := func(sluice, app string) *proxytest.Process { return start(t, file, sluice, app) }
			proxytest.Down(t, begin, rules, status)
		})
	}
}

// TestNoWayRound: what sluice does not like is no way past it, even where requests pass
// when it is down.
func TestNoWayRound(t *testing.T) {
	sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
	c := proxytest.NewClient(t, start(t, open, sluice.Addr, app.Addr).Addr, "127.0.0.1")
	for _, size := range []int{50_000, 200_000, 900_000} {
		r := c.Do("GET", "/", "", "X-Long", strings.Repeat("x", size))
		if r.StatusCode != http.StatusRequestHeaderFieldsTooLarge || app.Seen("GET /") > 0 {
			t.Errorf("%d bytes: status %d, and %d requests have reached the application", size, r.StatusCode, app.Seen("GET /"))
		}
	}
}

// TestBehindBalancer: a load balancer that both Caddy and sluice trust says who the
// client is.
func TestBehindBalancer(t *testing.T) {
	sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
	trusting := "header_up X-Forwarded-Method {method}\n\t\ttrusted_proxies 127.0.0.9"
	addr := start(t, closed, sluice.Addr, app.Addr, "header_up X-Forwarded-Method {method}", trusting).Addr
	balancer, other := proxytest.NewClient(t, addr, "127.0.0.9"), proxytest.NewClient(t, addr, "127.0.0.8")
	status := func(c *proxytest.Client, client string) int {
		return c.Do("POST", "/login", "", "X-Forwarded-For", "203.0.113.1, "+client).StatusCode
	}
	for i := range 6 {
		if got, want := status(balancer, "192.0.2.1"), i < 5; (got == http.StatusOK) != want {
			t.Errorf("login %d: status %d", i+1, got)
		}
	}
	if got := status(balancer, "192.0.2.2"); got != http.StatusOK {
		t.Errorf("another client behind it: status %d", got)
	}
	for range 5 {
		status(other, "192.0.2.3")
	}
	if got := status(other, "192.0.2.4"); got != http.StatusTooManyRequests {
		t.Errorf("who is no balancer: status %d", got)
	}
}
