package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

func logLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// What the gateway writes, replay reads.
func TestAccessLog(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "access.log")
	g := start(t, fmt.Sprintf("gateway: {access_log: %q, upstreams: [{name: app, servers: [%q]}]}\nrules: [{name: all, key: [ip], limits: [2/h]}]\n", file, up.URL))
	g.raw("GET /a%20b?c=\"d\" HTTP/1.1\r\nHost: shop.example.com\r\nUser-Agent: te\"st\t\xff é\r\nConnection: close\r\n\r\n")
	g.do(request(t, "POST", g.url+"/", "content"))
	g.get("/")
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	lines := logLines(t, file)
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	format, err := accesslog.Lookup("sluice-gateway", accesslog.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"GET shop.example.com /a%20b c=\"d\" 200 5 allowed", "POST " + g.address + " /  200 5 allowed", "GET " + g.address + " /  429 0 denied"} {
		var entry accesslog.Entry
		if why := format.Parser().Parse(lines[i], &entry); why != "" {
			t.Fatalf("%s: %s", why, lines[i])
		}
		var fields struct{ Rule, Outcome, Upstream, Agent string }
		if err := json.Unmarshal([]byte(lines[i]), &fields); err != nil {
			t.Fatal(err)
		}
		size := entry.Bytes
		if entry.Status == 429 {
			size = 0
		}
		got := fmt.Sprintf("%s %s %s %s %d %d %s", entry.Method, entry.Host, entry.Path, entry.Query, entry.Status, size, fields.Outcome)
		if got != want || entry.IP.String() != "127.0.0.1" || entry.Coarse || fields.Rule != "all" || (fields.Upstream == up.URL) != (entry.Status == 200) {
			t.Errorf("%s\nwant %s\n%s", got, want, lines[i])
		}
	}
	if !strings.Contains(lines[0], `"agent":"te\"st\u0009\u00ff é"`) {
		t.Error(lines[0])
	}
}

func TestAccessLogIsOpenedAgain(t *testing.T) {
	up := named(t, "x")
	file := filepath.Join(t.TempDir(), "access.log")
	section := fmt.Sprintf("gateway: {access_log: %q, upstreams: [{name: app, servers: [%q]}]}", file, up.URL)
	g := start(t, section)
	g.get("/1")
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	if err := g.Apply(load(t, section).Gateway); err != nil {
		t.Fatal(err)
	}
	g.get("/2")
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file + ".1": "/1", file: "/2"} {
		if lines := logLines(t, name); len(lines) != 1 || !strings.Contains(lines[0], `"path":"`+want+`"`) {
			t.Errorf("%s: %q", name, lines)
		}
	}
}
