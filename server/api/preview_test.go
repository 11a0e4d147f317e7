package api

import (
	"net/http"
	"slices"
	"testing"
)

func TestPreview(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	w := ask(h, "GET", "/v1/rules/login/preview?limit=sliding_log+3/m", "")
	if p := read[Preview](t, w); w.Code != http.StatusOK || p.Rule != "login" || !slices.Equal(p.With.Limits, []string{"sliding_log 3/m"}) || p.With.Denied != 41 {
		t.Errorf("%d %+v", w.Code, p)
	}
	if p := read[Preview](t, ask(h, "GET", "/v1/rules/login/preview", "")); !slices.Equal(p.With.Limits, p.InForce.Limits) {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		target     string
		status     int
		word, says string
	}{
		{"/v1/rules/nobody/preview?limit=1/s", 404, "not-found", `no rule "nobody"`},
		{"/v1/rules/login/preview?limit=soon", 400, "invalid-field", "limit: "},
		{"/v1/rules/login/preview?limit=1/s&limit=2/s", 400, "invalid-field", "twice"},
		{"/v1/rules/login/preview?limits=1/s", 400, "invalid-field", "may hold limit"},
		{"/v1/rules/login/preview?limit=%zz", 400, "invalid-query", "escape"},
	} {
		wantProblem(t, ask(h, "GET", c.target, ""), c.status, c.word, c.says)
	}
	if w := ask(h, "POST", "/v1/rules/login/preview", "{}"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestPreviewWithoutRecord: what the backend says is told with what to do.
func TestPreviewWithoutRecord(t *testing.T) {
	f := newFake(t, sample, nil)
	f.unrecorded = true
	wantProblem(t, ask(New(f, Options{}), "GET", "/v1/rules/login/preview", ""), http.StatusConflict, "no-record", "record.memory")
}
