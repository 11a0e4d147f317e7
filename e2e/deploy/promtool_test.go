package deploy

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/program"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// promtool runs Prometheus' own checker. It is not optional: what Prometheus does not
// understand, nobody is alerted of.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("no promtool in PATH: install Prometheus 2.42 or newer (Debian: apt-get install prometheus)")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(input, "# HELP") && len(out) > 0 {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestPromtoolRules: alerts and the queries of the dashboard are well formed.
func TestPromtoolRules(t *testing.T) {
	for _, file := range []string{filepath.Join(program.Root, alertsFile), queriesAsRules(t)} {
		promtool(t, "", "check", "rules", file)
	}
}

// TestPromtoolAlerts: alerts fire when they should, and not before. Every alert has a case.
func TestPromtoolAlerts(t *testing.T) {
	const file = "deploy/prometheus/alerts_test.yaml"
	promtool(t, "", "test", "rules", filepath.Join(program.Root, file))
	cases := read(t, file)
	alerts, err := readAlerts(read(t, alertsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts {
		_, tested, _ := strings.Cut(cases, "alertname: "+a.name+"\n        exp_alerts:\n")
		if tested == "" {
			t.Errorf("%s never sees %s fire", file, a.name)
		}
	}
}

// TestPromtoolMetrics: what a live server with Redis tells is as Prometheus wants it, and
// has every metric that is documented.
func TestPromtoolMetrics(t *testing.T) {
	redis := redistest.Start(t)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules: [{name: all, limits: [5/m], candidate: [2/m]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serve(t, "--config", rules, "--redis", "redis://"+redis.Addr())
	ask := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequest(method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v\n%s", path, res.Status, err, text)
		}
		return string(text)
	}
	for range 10 { // some are refused, and the refusal is remembered
		ask("POST", "/v1/check", `{"path":"/"}`)
	}
	var scrape string
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		scrape = ask("GET", "/metrics", "")
		if strings.Contains(scrape, "sluice_rule_offered_per_second{") { // needs two samples
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no offered load within a minute")
		}
	}
	promtool(t, scrape, "check", "metrics")
	for name := range documented(t) {
		if !strings.Contains(scrape, "\n# TYPE "+name+" ") {
			t.Errorf("a live server does not tell %s", name)
		}
	}
	if strings.Contains(scrape, "sluice_denial_cache_hits_total 0\n") {
		t.Error("refusals were asked of Redis again and again")
	}
}

// queriesAsRules writes the queries of the dashboard to a file that promtool can check.
func queriesAsRules(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	intervals := strings.NewReplacer("$__rate_interval", "5m", "$__interval", "5m")
	d := readDashboard(t)
	for where, query := range d.queries() {
		if strings.HasPrefix(query, "label_values(") {
			continue // Grafana's own
		}
		fmt.Fprintf(&text, "      - record: query\n        expr: %q\n        labels: {at: %q}\n", intervals.Replace(query), where)
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
