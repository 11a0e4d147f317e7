package rls_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/rls"
)

func TestJSON(t *testing.T) {
	world := &world{now: start}
	h := world.open(t, "domain: d\ndescriptors:\n  - {key: a, rate_limit: {unit: hour, requests_per_unit: 1}}\n", world.memory(), rls.Options{}).JSON(1000)
	const good = `{"domain": "d", "descriptors": [{"entries": [{"key": "a", "value": "1"}]}]}`
	for _, step := range []struct {
		method, body string
		code         int
		says         string
	}{
		{"POST", good, 200, `"overallCode":"OK"`},
		{"POST", good, 429, `"overallCode":"OVER_LIMIT"`},
		{"POST", `{"domain": "d"}`, 400, "0 descriptors"},
		{"POST", `{"domain": "d", "nonsense": 1}`, 400, "nonsense"},
		{"POST", `{`, 400, "no RateLimitRequest"},
		{"POST", strings.Repeat(" ", 2000), 413, "too long"},
		{"GET", "", 405, "POST"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(step.method, "/json", strings.NewReader(step.body)))
		body, _ := io.ReadAll(w.Body)
		if w.Code != step.code || !strings.Contains(strings.ReplaceAll(string(body), `": "`, `":"`), step.says) {
			t.Errorf("%s %.40q: %d %s", step.method, step.body, w.Code, body)
		}
		if w.Code == http.StatusOK && w.Header().Get("Content-Type") != "application/json" {
			t.Error("not called JSON")
		}
	}
}
