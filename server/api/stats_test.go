package api

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestStats(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for range 7 {
		ask(h, "POST", "/v1/check", login)
	}
	ask(h, "POST", "/v1/check", `{"method":"GET","path":"/users/12345/orders"}`)
	s := read[Stats](t, ask(h, "GET", "/v1/stats", ""))
	if s.Requests != 8 || s.Allowed != 6 || s.Denied != 2 || s.NoRule != 1 || len(s.Rules) != 3 || s.Rules[0].Denied != 2 {
		t.Errorf("%+v", s)
	}
	if len(s.Uncovered) != 1 || s.Uncovered[0].Path != "/users/{id}/orders" || s.Uncovered[0].Count != 1 {
		t.Errorf("%+v", s.Uncovered)
	}
	top := read[Top](t, ask(h, "GET", "/v1/top", ""))
	if top.By != "requests" || len(top.Keys) != 1 || top.Keys[0].Rule != "login" || top.Keys[0].Count != 7 {
		t.Errorf("%+v", top)
	}
	top = read[Top](t, ask(h, "GET", "/v1/top?by=denials&n=1", ""))
	if top.By != "denials" || len(top.Keys) != 1 || top.Keys[0].Count != 2 {
		t.Errorf("%+v", top)
	}
	all := read[Records](t, ask(h, "GET", "/v1/decisions", "")).Decisions
	if len(all) != 2 || all[0].Rule != "login" || all[0].Key != "192.0.2.1" || all[0].Reason != "limited" || all[0].RetryAfterMS != 12000 {
		t.Errorf("%+v", all)
	}
	if n := len(read[Records](t, ask(h, "GET", "/v1/decisions?n=1", "")).Decisions); n != 1 {
		t.Errorf("%d decisions", n)
	}
	if n := len(read[Records](t, ask(h, "GET", "/v1/decisions?rule=api", "")).Decisions); n != 0 {
		t.Errorf("%d decisions of another rule", n)
	}
}

// TestKeptTexts: what the engine remembers of a request does not change with the memory
// of its body, which is used again.
func TestKeptTexts(t *testing.T) {
	h := New(newFake(t, "rules: [{name: none, key: [user], limits: [1/h]}]", nil), Options{})
	for i := range 50 {
		body := fmt.Sprintf(`{"requests":[%[1]s,%[1]s]}`, fmt.Sprintf(`{"method":"GET","path":"/page/%02d","user":"user-%02d"}`, i, i))
		ask(h, "POST", "/v1/check", body)
	}
	all := read[Records](t, ask(h, "GET", "/v1/decisions?n=100", "")).Decisions
	if len(all) != 50 {
		t.Fatalf("%d refusals", len(all))
	}
	for i, d := range all {
		if n := 49 - i; d.Key != fmt.Sprintf("user-%02d", n) || d.Path != fmt.Sprintf("/page/%02d", n) || d.Method != "GET" {
			t.Errorf("refusal %d: %+v", n, d)
		}
	}
	for _, k := range read[Top](t, ask(h, "GET", "/v1/top?n=100", "")).Keys {
		if k.Count != 2 {
			t.Errorf("%+v", k)
		}
	}
	for i := range 50 { // each key has a budget of its own
		if d := read[Decision](t, ask(h, "POST", "/v1/peek", fmt.Sprintf(`{"user":"user-%02d"}`, i))); d.Allowed {
			t.Errorf("user %d is forgotten", i)
		}
	}
}

func TestQueries(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for path, field := range map[string]string{
		"/v1/stats?n=1": "n", "/v1/stats?uncovered=0": "uncovered", "/v1/top?by=cost": "by", "/v1/top?n=x": "n", "/v1/top?n=1&n=2": "n",
		"/v1/decisions?n=1001": "n", "/v1/audit?n=-1": "n", "/v1/audit?m=1": "m", "/v1/events?since=1": "since",
	} {
		if p := wantProblem(t, ask(h, "GET", path, ""), http.StatusBadRequest, "invalid-field", field); p.Field != field {
			t.Errorf("%s: field %q", path, p.Field)
		}
	}
	if entries := read[Audit](t, ask(h, "GET", "/v1/audit", "")).Entries; entries == nil {
		t.Error("no entries are null")
	}
}

func TestHealth(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	if got := read[Health](t, ask(h, "GET", "/healthz", "")); got.Status != "ok" {
		t.Errorf("%+v", got)
	}
	if got := read[Health](t, ask(h, "GET", "/readyz", "")); got.Status != "ready" {
		t.Errorf("%+v", got)
	}
	f.notReady = errors.New("rules are not loaded yet")
	wantProblem(t, ask(h, "GET", "/readyz", ""), http.StatusServiceUnavailable, "not-ready", "not loaded")
	if w := ask(h, "GET", "/healthz", ""); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}
