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
