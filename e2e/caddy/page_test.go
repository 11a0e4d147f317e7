package caddy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// TestPage runs the commands of docs/CADDY.md as they stand there, with other addresses,
// and in the clear: nobody signs a certificate for the name.
func TestPage(t *testing.T) {
	commands := proxytest.BlockWith(t, "CADDY.md", "sluice serve")
	if len(commands) != 3 {
		t.Fatalf("the page has the commands %q", commands)
	}
	addr, admin := proxytest.FreeAddr(t), proxytest.FreeAddr(t)
	server := proxytest.Shell(t, proxytest.Example(t, example, nil), commands[0])
	server.Env = append(server.Env, "SLUICE_LISTEN="+addr)
	sluice := proxytest.Start(t, addr, server)
	proxy := startWith(t, "admin "+admin, closed, sluice.Addr, proxytest.NewApp(t).Addr)
	reload := commands[1] + " --adapter caddyfile --config " + filepath.Join(proxy.Dir(), closed) + " --address " + admin
	if out, err := proxytest.Shell(t, "", reload, "caddy reload", "caddy reload").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands[1], err, out)
	}
	out, err := proxytest.Shell(t, "", commands[2], "https://example.com", "http://"+proxy.Addr).Output()
	if answer := string(out); err != nil || !strings.Contains(answer, " 200 OK") || !strings.Contains(strings.ToLower(answer), "\nratelimit: ") {
		t.Errorf("%v\n%s", err, answer)
	}
}
