package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/config"
)

// TestPreviewOfServer: a running server tells what another limit would have done, also
// after a reload, and changes nothing by it.
func TestPreviewOfServer(t *testing.T) {
	rules := newFile(t, "rules:\n  - name: web/login\n    key: [ip]\n    limits: [100/h]\n")
	r := start(t, config.Sources{Path: rules.path})
	for range 10 {
		r.do("POST", "/v1/check", `{"ip":"192.0.2.1"}`)
	}
	r.do("POST", "/v1/check", `{"ip":"192.0.2.2"}`)
	preview := func(want int, query string) (p api.Preview) {
		t.Helper()
		response, text := r.do("GET", "/v1/rules/web/login/preview"+query, "")
		if response.StatusCode != want {
			t.Fatalf("%d %s", response.StatusCode, text)
		}
		_ = json.Unmarshal([]byte(text), &p)
		return p
	}
	if p := preview(http.StatusOK, "?limit=4/h"); p.Requests != 11 || p.Keys != 2 || p.With.Denied != 6 || p.With.KeysDenied != 1 || p.InForce.Denied != 0 || p.Cut || !p.From.Before(p.To) {
		t.Errorf("%+v", p)
	}
	rules.write("rules:\n  - name: web/login\n    key: [ip]\n    limits: [3/h]\n")
	r.do("POST", "/v1/reload", "")
	if p := preview(http.StatusOK, ""); p.Requests != 11 || p.With.Denied != 7 || p.InForce.Denied != 7 || strings.Join(p.With.Limits, "") != "3/h" {
		t.Errorf("%+v", p)
	}
	preview(http.StatusBadRequest, "?limit=sliding_log+1000000/h")
	if response, text := r.do("GET", "/v1/rules/login/preview", ""); response.StatusCode != http.StatusNotFound {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

// TestPreviewOff: without memory for it there is no record.
func TestPreviewOff(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"record.memory": "0B"}})
	if response, text := r.do("GET", "/v1/rules/login/preview", ""); response.StatusCode != http.StatusConflict || !strings.Contains(text, "record.memory") {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

// TestRecordOfServer: it sends what it decided, and calls nobody by name.
func TestRecordOfServer(t *testing.T) {
	rules := newFile(t, "rules:\n  - name: web/login\n    key: [ip]\n    limits: [100/h]\n")
	r := start(t, config.Sources{Path: rules.path})
	for _, body := range []string{`{"ip":"192.0.2.1"}`, `{"ip":"192.0.2.2","cost":3}`, `{"ip":"192.0.2.1"}`} {
		r.do("POST", "/v1/check", body)
	}
	response, text := r.do("GET", "/v1/rules/web/login/record", "")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if response.StatusCode != http.StatusOK || len(lines) != 4 || lines[0] != "time,key,cost" {
		t.Fatalf("%d %s", response.StatusCode, text)
	}
	var fields [][]string
	for _, line := range lines[1:] {
		fields = append(fields, strings.Split(line, ","))
	}
	if a, b, c := fields[0], fields[1], fields[2]; a[1] != c[1] || a[1] == b[1] || a[2] != "1" || b[2] != "3" || a[0] > b[0] || b[0] > c[0] {
		t.Error(text)
	}
}
