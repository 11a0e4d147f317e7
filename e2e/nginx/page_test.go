package nginx

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// TestPage runs the commands of docs/NGINX.md as they stand there, with other ports, and
// compares what it prints of the answer.
func TestPage(t *testing.T) {
	commands := proxytest.BlockWith(t, "NGINX.md", "sluice serve")
	if len(commands) != 3 {
		t.Fatalf("the page has the commands %q", commands)
	}
	addr := proxytest.FreeAddr(t)
	server := proxytest.Shell(t, proxytest.Example(t, example, nil), commands[0])
	server.Env = append(server.Env, "SLUICE_LISTEN="+addr)
	sluice := proxytest.Start(t, addr, server)
	proxy := start(t, sluice.Addr, proxytest.NewApp(t).Addr)
	files := " -p " + proxy.Dir() + " -c " + filepath.Join(proxy.Dir(), "nginx.conf") + " -g '" + globals(proxy.Dir()) + "'"
	if out, err := proxytest.Shell(t, "", commands[1], "nginx", "nginx"+files).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands[1], err, out)
	}
	out, err := proxytest.Shell(t, "", commands[2], "localhost", proxy.Addr).Output()
	if err != nil {
		t.Fatal(err)
	}
	answer := strings.ReplaceAll(string(out), "\r", "")
	for _, line := range proxytest.BlockWith(t, "NGINX.md", `"everything";r=99`) {
		if !strings.Contains(answer, line+"\n") {
			t.Errorf("the page prints %q, the answer is\n%s", line, answer)
		}
	}
}
