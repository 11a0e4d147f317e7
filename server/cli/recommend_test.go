//go:build !race

package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/recommend"
)

// TestRecommendWrites: JSON with labels that somebody knows, and a rule file that loads,
// once.
func TestRecommendWrites(t *testing.T) {
	dir := t.TempDir()
	rules, labels := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "labels.txt")
	if err := os.WriteFile(labels, []byte("good 62.95.48.123\nbad 220.194.158.0/24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"recommend", "--key", "ip", "--algorithm", "sliding_log", "--labels", labels, "--allow", "163.115.98.107", "--method", "GET", "--write", rules,
		"--seed", "7", "--json", testLogs + "semicomplete-2015.log.gz",
	}
	out, complaint, code := command(t.Context(), nil, args...)
	var r recommend.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatal(err, code, complaint)
	}
	if r.Seed != 7 || r.Lines.Total != 10_000 || r.Unmatched == 0 || len(r.Fits) != 1 || r.Fits[0].Limit.Count != 110 {
		t.Errorf("%+v", r)
	}
	if top := r.Labels.Top[0]; top.Key != "220.194.158.239" || top.Why != "labelled bad" {
		t.Errorf("%+v", top)
	}
	if out, complaint, code := command(t.Context(), nil, "check-config", rules); code != 0 || !strings.Contains(out, "1 rules, 0 tests, 0 warnings") {
		t.Error(code, out, complaint)
	}
	if out, complaint, code := command(t.Context(), nil, "explain", "--config", rules, "GET", "/", "ip=163.115.98.107"); code != 0 || !strings.Contains(out, "does not match") {
		t.Error(code, out, complaint)
	}
	if _, complaint, code := command(t.Context(), nil, args...); code != 2 || !strings.Contains(complaint, "there already") {
		t.Error(code, complaint)
	}
}

// TestRecommendSort: a log whose last request comes first gives the limit of one in order,
// though the window does not hold it; a pipe only with --sort, and never a wrong one.
func TestRecommendSort(t *testing.T) {
	lines := make([]string, 9000) // of more blocks than the window holds
	for i := range lines {
		at := time.Date(2016, 2, 20, 0, 0, 30*i, 0, time.UTC)
		lines[i] = fmt.Sprintf("10.0.%d.%d - - [%s] \"GET /%0100d HTTP/1.1\" 200 1 \"-\" \"x\"\n", i%1500/250, i%250, at.Format("02/Jan/2006:15:04:05 -0700"), i)
	}
	ordered := strings.Join(lines, "")
	slices.Reverse(lines)
	backwards := strings.Join(lines, "")
	name := filepath.Join(t.TempDir(), "backwards.log")
	if err := os.WriteFile(name, []byte(backwards), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(log string, args ...string) (out, complaint string, code int) {
		args = append([]string{"recommend", "--json", "--window", "1000", "--algorithm", "sliding_log"}, args...)
		return command(t.Context(), strings.NewReader(log), args...)
	}
	want, complaint, code := ask(ordered, "-")
	if code != 0 {
		t.Fatal(complaint)
	}
	if got, complaint, _ := ask("", name); got != want || !strings.Contains(complaint, "further out of order than 1000 lines") {
		t.Error(got, complaint)
	}
	if got, complaint, _ := ask(backwards, "-", "--sort"); got != want {
		t.Error(got, complaint)
	}
	if got, complaint, code := ask(backwards, "-"); got != "" || code != 1 || !strings.Contains(complaint, "--sort puts it in order") {
		t.Error(got, complaint, code)
	}
}

// TestRecommendFromServer: a record that is long enough gives a limit and a file for the
// same rule.
func TestRecommendFromServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/rules/web/login", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"rule":{"name":"web/login","match":{"paths":["/login"]},"key":["ip"],"missing":"shared","cost":{"methods":{"POST":1}},"limits":["100/m"]}}`)
	})
	mux.HandleFunc("GET /v1/rules/web/login/record", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "time,key,cost\n")
		for i := range int64(3000) { // each key comes once in three days, with 1 to 10 requests
			for n := range 1 + i%10 {
				fmt.Fprintf(w, "%d,%x,1\n", 1767225600_000000+i*86400_000+n, i)
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	out, complaint, code := command(t.Context(), nil, "recommend", "--rule", "web/login", "--server", server.URL, "--algorithm", "sliding_log", "--write", rules)
	if code != 0 || !strings.Contains(out, "16,500 requests of 3,000 keys (ip)") || !strings.Contains(out, "sliding_log 10/m") {
		t.Fatal(code, out, complaint)
	}
	text, err := os.ReadFile(rules)
	if err != nil || !strings.Contains(string(text), "name: web/login\n    match: {\"paths\":[\"/login\"]}\n    key: [\"ip\"]\n    missing: \"shared\"\n    cost: {\"methods\":{\"POST\":1}}\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if out, complaint, code := command(t.Context(), nil, "check-config", rules); code != 0 {
		t.Error(code, out, complaint)
	}
}
