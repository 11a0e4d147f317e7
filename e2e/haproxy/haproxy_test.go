package haproxy

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

const (
	example = "examples/haproxy"
	rules   = example + "/rules.yaml"
)

func TestMain(m *testing.M) { program.Main(m) }

// start runs HAProxy with the settings of the example, before sluice and app at these
// addresses. Further replacements are given as old and new text in turn.
func start(t testing.TB, sluice, app string, replace ...string) *proxytest.Process {
	t.Helper()
	addr := proxytest.FreeAddr(t)
	texts := map[string]string{"127.0.0.1:8080": sluice, "127.0.0.1:3000": app, "bind :80": "bind " + addr}
	for i := 0; i < len(replace); i += 2 {
		texts[replace[i]] = replace[i+1]
	}
	path, err := exec.LookPath("haproxy")
	if err != nil {
		path = "/usr/sbin/haproxy" // which not everybody has in the path
	}
	cmd := exec.Command(path, "-f", "haproxy.cfg")
	cmd.Dir = proxytest.Example(t, example, texts)
	return proxytest.Start(t, addr, cmd)
}

func TestHAProxy(t *testing.T) {
	proxytest.Run(t, func(t *testing.T) proxytest.Setup {
		sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
		return proxytest.Setup{Proxy: start(t, sluice.Addr, app.Addr).Addr, Sluice: sluice, App: app, Pages: true}
	})
}

func TestQuestion(t *testing.T) {
	begin := func(sluice, app string) *proxytest.Process { return start(t, sluice, app) }
	names := proxytest.Fields{Method: "X-Forwarded-Method", URI: "X-Forwarded-Uri", Host: "X-Forwarded-Host", Client: "X-Forwarded-For"}
	proxytest.Question(t, begin, names, nil)
}

// The setting that lets requests pass when sluice is down.
const (
	closed = "open_when_down = false"
	open   = "open_when_down = true"
)

func TestDown(t *testing.T) {
	for setting, status := range map[string]int{closed: http.StatusServiceUnavailable, open: http.StatusOK} {
		t.Run(setting, func(t *testing.T) {
			begin := func(sluice, app string) *proxytest.Process { return start(t, sluice, app, closed, setting) }
			proxytest.Down(t, begin, rules, status)
		})
	}
}

// TestNoWayRound: what sluice or HAProxy does not like is no way past them, even where
// requests pass when sluice is down.
func TestNoWayRound(t *testing.T) {
	for name, buffer := range map[string]string{"small buffers": "global\n", "large buffers": "global\n    tune.bufsize 131072\n"} {
		t.Run(name, func(t *testing.T) {
			sluice, app := proxytest.Sluice(t, rules), proxytest.NewApp(t)
			c := proxytest.NewClient(t, start(t, sluice.Addr, app.Addr, closed, open, "global\n", buffer).Addr, "127.0.0.1")
			for range 5 {
				c.Do("POST", "/login", "")
			}
			for _, at := range []int{7_000, 14_000, 34_000} { // near the ends of buffers of 8, 16 and 36 KiB
				for size := at; size < at+3_000; size += 300 {
					long := strings.Repeat("x", size)
					c.Raw("POST /login", "X-Long: "+long)
					c.Raw("POST /login", "X-Long: "+long[size/2:], "X-Longer: "+long[size/2:])
					c.Raw("POST /login?" + long[:min(size, 15_000)])
				}
			}
			if n := app.Seen("POST /login"); n != 5 {
				t.Errorf("%d logins have reached the application", n)
			}
		})
	}
}
