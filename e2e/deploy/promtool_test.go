package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromtool asks Prometheus itself, where it is installed, whether alerts and queries are
// well formed. The other tests of them do not need it.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed: alerts and queries were read by the other tests alone")
		return
	}
	for _, file := range []string{filepath.Join(root, alertsFile), queriesAsRules(t)} {
		if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
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
