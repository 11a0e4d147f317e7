package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func authorization(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", value) }
}

// TestTokens: everything but three public endpoints asks for a token.
func TestTokens(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("# metrics")) })
	h := New(newFake(t, sample, nil), Options{Tokens: [][32]byte{HashToken("old"), HashToken("new")}, Metrics: metrics}).(*handler)
	public := 0
	for _, r := range h.routes() {
		path := strings.Replace(r.path, "{name}", "login", 1)
		if r.public {
			public++
			if w := ask(h, r.method, path, ""); w.Code != http.StatusOK {
				t.Errorf("%s: status %d", path, w.Code)
			}
			continue
		}
		w := ask(h, r.method, path, "")
		wantProblem(t, w, http.StatusUnauthorized, "unauthorized", "needs a token")
		if w.Header().Get("WWW-Authenticate") != `Bearer realm="sluice"` {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	if public != 3 {
		t.Errorf("%d public endpoints, want /healthz, /readyz and the OpenAPI document", public)
	}
}

func TestTokenForms(t *testing.T) {
	var log bytes.Buffer
	h := New(newFake(t, sample, nil), Options{
		Tokens: [][32]byte{HashToken("old"), HashToken("new")}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for value, ok := range map[string]bool{
		"Bearer old": true, "Bearer new": true, "bearer new": true, "Bearer  new": true,
		"": false, "Bearer": false, "Bearer ": false, "Bearer ne": false, "Bearer neww": false, "Basic new": false, "new": false, "Bearer NEW": false,
		"Bearer old new": false, "Bearer \xff": false,
	} {
		w := ask(h, "GET", "/v1/stats", "", authorization(value))
		if ok && w.Code != http.StatusOK {
			t.Errorf("%q: status %d", value, w.Code)
		}
		if !ok {
			wantProblem(t, w, http.StatusUnauthorized, "unauthorized", "token")
		}
	}
	twice := ask(h, "GET", "/v1/stats", "", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer bad", "Bearer new"} })
	wantProblem(t, twice, http.StatusUnauthorized, "unauthorized", "token")
	if strings.Contains(log.String(), "new") {
		t.Errorf("a token in the log: %s", &log)
	}
}
