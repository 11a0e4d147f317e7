package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// told asks the gateway who answers.
func told(t *testing.T, r *running) string {
	t.Helper()
	res, err := r.http.Get("http://" + r.DoorAddr("gateway").String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, text)
}

func TestGateway(t *testing.T) {
	var urls []any
	for _, name := range []string{"one", "two"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
		defer s.Close()
		urls = append(urls, s.URL)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const section = "gateway: {listen: '127.0.0.1:0', upstreams: [{name: app, servers: [%q]}]}\nrules: [{name: all, key: [ip], limits: [%s]}]\n"
	write(fmt.Sprintf(section, urls[0], "1000/h"))
	r := start(t, config.Sources{Path: file})
	if got := told(t, r); got != "200 one" {
		t.Error(got)
	}
	write(fmt.Sprintf(section, urls[1], "2/h"))
	change, err := r.Reload(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(change.Lines, "\n"); !strings.Contains(all, "gateway: upstream app: servers") {
		t.Errorf("it tells of %q", all)
	}
	// The first request counts for the new limit too: a budget stays where the rule does.
	if got := told(t, r); got != "200 two" {
		t.Error(got)
	}
	if got := told(t, r); !strings.HasPrefix(got, "429 ") {
		t.Error(got)
	}
	// What is wrong changes nothing.
	write("gateway: {listen: '127.0.0.1:0', upstreams: [{name: app, servers: [nonsense]}]}\nrules: []\n")
	if _, err := r.Reload(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "rules.yaml:1:") {
		t.Errorf("error %v", err)
	}
	if got := told(t, r); !strings.HasPrefix(got, "429 ") {
		t.Error(got)
	}
	res, err := r.http.Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); !strings.Contains(string(text), `sluice_gateway_requests_total{class="2xx"} 2`) {
		t.Error("the metrics do not tell of the gateway")
	}
}

// A gateway that cannot be changed leaves the rules as they are too.
func TestReloadIsNotHalfDone(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "up") }))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(more, limit string) {
		t.Helper()
		text := fmt.Sprintf("gateway: {listen: '127.0.0.1:0', upstreams: [{name: app, servers: [%q]%s}]}\nrules: [{name: all, key: [ip], limits: [%s]}]\n", up.URL, more, limit)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("", "1000/h")
	r := start(t, config.Sources{Path: file})
	write(", ca: /does/not/exist", "1/h")
	if _, err := r.Reload(t.Context(), "test"); err == nil {
		t.Fatal("no error")
	}
	for range 3 {
		if got := told(t, r); got != "200 up" {
			t.Errorf("%s: the new limit is in force", got)
		}
	}
}
