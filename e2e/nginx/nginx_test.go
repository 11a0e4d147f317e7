package nginx

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
	example = "examples/nginx"
	rules   = example + "/rules.yaml"
)

func TestMain(m *testing.M) { program.Main(m) }

// start runs nginx with the settings of the example, before sluice and app at these
// addresses. Further replacements are given as old and new text in turn.
func start(t testing.TB, sluice, app string, replace ...string) *proxytest.Process {
	t.Helper()
	addr := proxytest.FreeAddr(t)
	temporary := "http {\n access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
	texts := map[string]string{"127.0.0.1:8080": sluice, "127.0.0.1:3000": app, "listen 80;": "listen " + addr + ";", "http {\n": temporary}
	for i := 0; i < len(replace); i += 2 {
		texts[replace[i]] = replace[i+1]
	}
	dir := proxytest.Example(t, example, texts)
	cmd := exec.Command(nginx(), "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-g", globals(dir))
	cmd.Dir = dir
	return proxytest.Start(t, addr, cmd)
}

// globals are settings that stand in no file of the example.
func globals(dir string) string {
	globals := "daemon off; pid " + filepath.Join(dir, "pid") + "; error_log stderr;"
	if os.Geteuid() == 0 {
		globals += " user root;" // the folder is nobody else's
	}
	return globals
}

// nginx is the program, which not everybody has in the path.
func nginx() string {
	if path, err := exec.LookPath("nginx"); err == nil {
		return path
	}
	return "/usr/sbin/nginx"
}

func TestNginx(t *testing.T) {
	proxytest.Run(t, func(t *testing.T) proxytest.Setup {
		sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
		return proxytest.Setup{Proxy: start(t, sluice.Addr, app.Addr).Addr, Sluice: sluice, App: app}
	})
}

func TestQuestion(t *testing.T) {
	begin := func(sluice, app string) *proxytest.Process {
		return start(t, sluice, app, "X-Original-Host   $host;", "X-Original-Host   $host:$server_port;") // as others tell it
	}
	names := proxytest.Fields{Method: "X-Original-Method", URI: "X-Original-URI", Host: "X-Original-Host", Client: "X-Real-IP"}
	proxytest.Question(t, begin, names, map[string]string{"X-Original-Length": "4"})
}

// open is the line of the settings that lets requests pass when sluice is down.
const open = "error_page 502 504 = @sluice_down;"

func TestDown(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		begin := func(sluice, app string) *proxytest.Process { return start(t, sluice, app) }
		proxytest.Down(t, begin, rules, http.StatusInternalServerError)
	})
	t.Run("open", func(t *testing.T) {
		begin := func(sluice, app string) *proxytest.Process { return start(t, sluice, app, "#"+open, open) }
		proxytest.Down(t, begin, rules, http.StatusOK)
	})
}

// TestFree: what is not limited does not need sluice.
func TestFree(t *testing.T) {
	c := proxytest.NewClient(t, start(t, proxytest.FreeAddr(t), proxytest.NewApp(t).Addr).Addr, "127.0.0.1")
	if r := c.Do("GET", "/healthz", ""); r.StatusCode != http.StatusOK {
		t.Errorf("status %d", r.StatusCode)
	}
}

// TestNoWayRound: what sluice does not like is no way past it, even where requests pass
// when it is down.
func TestNoWayRound(t *testing.T) {
	sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
	c := proxytest.NewClient(t, start(t, sluice.Addr, app.Addr, "#"+open, open, "listen", "large_client_header_buffers 8 16k; listen").Addr, "127.0.0.1")
	var header []string
	for range 5 {
		header = append(header, "X-Long", strings.Repeat("x", 10_000))
	}
	if r := c.Do("GET", "/", "", header...); r.StatusCode != http.StatusInternalServerError || app.Seen("GET /") > 0 {
		t.Errorf("status %d, and %d requests have reached the application", r.StatusCode, app.Seen("GET /"))
	}
}

// TestUntrusted: a proxy that sluice does not know lets nobody pass.
func TestUntrusted(t *testing.T) {
	sluice, app := proxytest.Sluice(t, rules, "--forward-auth-trusted", "192.0.2.0/24"), proxytest.NewApp(t)
	c := proxytest.NewClient(t, start(t, sluice.Addr, app.Addr).Addr, "127.0.0.1")
	if r := c.Do("GET", "/", ""); r.StatusCode != http.StatusForbidden || app.Seen("GET /") > 0 {
		t.Errorf("status %d", r.StatusCode)
	}
	if !sluice.Says("forward_auth.trusted") {
		t.Errorf("the log does not say what to set:\n%s", sluice.Output())
	}
}
