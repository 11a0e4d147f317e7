package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/store"
)

func TestRules(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	all := read[Rules](t, ask(h, "GET", "/v1/rules", ""))
	if all.Version.Hash != "4c1f" || all.Default != "allow" || all.ShadowAll || len(all.Rules) != 3 || all.Rules[1].Name != "api" {
		t.Errorf("%+v", all)
	}
	ask(h, "POST", "/v1/check", login)
	one := read[RuleDetail](t, ask(h, "GET", "/v1/rules/login", ""))
	if one.Rule.Limits[0].Name != "per-minute" || one.Stats.Rule != "login" || one.Stats.Requests != 1 {
		t.Errorf("%+v", one)
	}
	wantProblem(t, ask(h, "GET", "/v1/rules/logout", ""), http.StatusNotFound, "not-found", `"logout"`)
	wantProblem(t, ask(h, "GET", "/v1/rules/validate", ""), http.StatusNotFound, "not-found", `"validate"`)
	wantProblem(t, ask(h, "GET", "/v1/rules?x=1", ""), http.StatusBadRequest, "invalid-field", "no query")
}

// TestRuleNames: a name may have slashes, and be that of an endpoint.
func TestRuleNames(t *testing.T) {
	h := New(newFake(t, "rules:\n - {name: team/validate, limits: [1/s]}\n - {name: validate, limits: [1/s]}\n", nil), Options{})
	for _, name := range []string{"team/validate", "validate"} {
		if got := read[RuleDetail](t, ask(h, "GET", "/v1/rules/"+name, "")).Rule.Name; got != name {
			t.Errorf("rule %q, want %q", got, name)
		}
	}
	none := New(newFake(t, "rules: []\n", nil), Options{})
	if body := ask(none, "GET", "/v1/rules", "").Body.String(); !strings.Contains(body, `"rules":[]`) {
		t.Errorf("no rules: %s", body)
	}
}

func TestValidate(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	check := func(body string) Validation {
		t.Helper()
		return read[Validation](t, ask(h, "POST", "/v1/rules/validate", body, contentType("application/yaml")))
	}
	if v := check(sample); !v.Valid || v.Problems == nil {
		t.Errorf("%+v", v)
	}
	v := check("rules:\n  - name: a\n    limits: [5/parsec]\n    colour: red\n")
	if v.Valid || len(v.Problems) != 2 || v.Problems[0].Line != 3 || v.Problems[0].Column == 0 || v.Problems[1].Line != 4 {
		t.Errorf("%+v", v)
	}
	v = check("rules:\n - {name: a, limits: [1/s]}\n - {name: b, limits: [1/s, 2/s]}\n")
	if !v.Valid || len(v.Problems) == 0 || !v.Problems[0].Warning {
		t.Errorf("warnings: %+v", v)
	}
	wantProblem(t, ask(h, "POST", "/v1/rules/validate", "", contentType("text/yaml")), http.StatusBadRequest, "invalid-body", "rule file")
	wantProblem(t, ask(h, "POST", "/v1/rules/validate", "rules: []", contentType("text/plain")), http.StatusUnsupportedMediaType, "unsupported-media-type", "application/yaml")
}

func TestReload(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	got := read[Reloaded](t, ask(h, "POST", "/v1/reload", ""))
	if got.Before.Hash != "4c1f" || got.After.Hash != "77aa" || len(got.Changes) != 1 {
		t.Errorf("%+v", got)
	}
	if entries := read[Audit](t, ask(h, "GET", "/v1/audit", "")).Entries; len(entries) != 1 || entries[0].Source != "api from 192.0.2.1" {
		t.Errorf("%+v", entries)
	}
	f.broken = rulefile.Problems{{File: "rules.yaml", Line: 3, Column: 5, Reason: "no such field", Hint: "did you mean limits?"}}
	p := wantProblem(t, ask(h, "POST", "/v1/reload", ""), http.StatusUnprocessableEntity, "invalid-rules", "those in force stay")
	if len(p.Problems) != 1 || p.Problems[0].Line != 3 {
		t.Errorf("%+v", p)
	}
	f.broken = errors.New("no such file")
	p = wantProblem(t, ask(h, "POST", "/v1/reload", ""), http.StatusUnprocessableEntity, "invalid-rules", "")
	if len(p.Problems) != 1 || p.Problems[0].Reason != "no such file" {
		t.Errorf("%+v", p)
	}
}

func TestShadowAll(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	if got := read[ShadowAll](t, ask(h, "PUT", "/v1/shadow-all", `{"on":true}`)); !got.On || !f.engine.ShadowedAll() {
		t.Errorf("%+v", got)
	}
	for _, body := range []string{`{}`, `{"on":null}`} {
		wantProblem(t, ask(h, "PUT", "/v1/shadow-all", body), http.StatusBadRequest, "invalid-field", "missing")
	}
	wantProblem(t, ask(h, "PUT", "/v1/shadow-all", `{"on":"no"}`), http.StatusBadRequest, "invalid-field", "true or false")
	if !f.engine.ShadowedAll() {
		t.Error("a mistake has turned it off")
	}
	if got := read[ShadowAll](t, ask(h, "PUT", "/v1/shadow-all", `{"on":false}`)); got.On || f.engine.ShadowedAll() {
		t.Errorf("%+v", got)
	}
}

func TestRollback(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	wantProblem(t, ask(h, "POST", "/v1/rules/rollback", ""), http.StatusConflict, "no-previous", "not changed since the server started")
	ask(h, "POST", "/v1/reload", "")
	got := read[Reloaded](t, ask(h, "POST", "/v1/rules/rollback", ""))
	if got.After.Hash != f.version.Hash || len(got.Changes) != 1 {
		t.Errorf("%+v", got)
	}
	wantProblem(t, ask(h, "POST", "/v1/rules/rollback?n=1", ""), http.StatusBadRequest, "invalid-field", "n")
	f.broken = errors.New("the server is shutting down")
	wantProblem(t, ask(h, "POST", "/v1/rules/rollback", ""), http.StatusServiceUnavailable, "unavailable", "shutting down")
}

// Who resets or refunds budgets is noted, also if it fails.
func TestBudgetsAreNoted(t *testing.T) {
	spent := strings.Replace(login, "}", `,"cost":1}`, 1)
	for _, s := range []store.Store{nil, failing{errStore}} {
		f := newFake(t, sample, s)
		h := New(f, Options{})
		for _, action := range []string{"reset", "refund"} {
			ask(h, "POST", "/v1/"+action, spent)
			e := f.Audit(1)[0]
			if e.Action != action || e.Source == "" || (e.Error == "") != (s == nil) {
				t.Errorf("%+v", e)
			}
		}
		before := len(f.Audit(100))
		ask(h, "POST", "/v1/refund", login) // without a cost: nothing happens
		ask(h, "POST", "/v1/check", login)
		if n := len(f.Audit(100)); n != before {
			t.Errorf("%d entries, want %d", n, before)
		}
	}
}
