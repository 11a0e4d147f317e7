package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/server/config"
)

// Rules that did harm give way to those before them. Budgets stay, the file is in force
// again after the next reload, and what is wrong with a file stays known.
func TestRollback(t *testing.T) {
	f := newFile(t, "rules: [{name: login, limits: [5/h]}]\n")
	r := start(t, config.Sources{Path: f.path})
	if response, text := r.do("POST", "/v1/rules/rollback", ""); response.StatusCode != http.StatusConflict || !strings.Contains(text, "no-previous") {
		t.Errorf("before any change: %s %s", response.Status, text)
	}
	hash := func() string { _, v := r.Rules(); return v.Hash }
	remaining := func() int64 { t.Helper(); return r.check().Remaining() }
	first := hash()
	if n := remaining(); n != 4 {
		t.Fatalf("%d left", n)
	}
	f.write("rules: [{name: login, limits: [2/h]}]\n")
	eventually(t, "the file is in force", func() bool { return hash() != first })
	second := hash()
	f.write("rules: [{nam: login}]\n")
	eventually(t, "the mistake is seen", func() bool { return r.metric("sluice_reload_last_success") == "sluice_reload_last_success 0" })

	response, text := r.do("POST", "/v1/rules/rollback", "")
	if response.StatusCode != http.StatusOK || !strings.Contains(text, "rule login: limit 2/h → 5/h") || hash() != first {
		t.Fatalf("%s %s, hash %s", response.Status, text, hash())
	}
	if n := remaining(); n != 3 {
		t.Errorf("%d left: the budget did not stay", n)
	}
	if got := r.metric("sluice_rules_info"); !strings.Contains(got, first) {
		t.Error(got)
	}
	if got := r.metric("sluice_reload_last_success"); got != "sluice_reload_last_success 0" {
		t.Errorf("%s: the file is still wrong", got)
	}
	if e := r.Audit(1)[0]; e.Action != "rollback" || e.Source != "api from 127.0.0.1" || e.Hash != first || len(e.Lines) != 1 {
		t.Errorf("%+v", e)
	}
	if r.do("POST", "/v1/rules/rollback", ""); hash() != second {
		t.Error("a second one does not undo the first")
	}
	f.write("rules: [{name: login, limits: [7/h]}]\n")
	eventually(t, "the file is in force again", func() bool { h := hash(); return h != first && h != second })
	eventually(t, "metrics tell when", func() bool {
		_, v := r.Rules()
		return r.number("sluice_reload_last_success_timestamp_seconds") == float64(v.Loaded.UnixMilli())/1000
	})
}

// A watcher that is late tells of files that were reloaded, and rolled back since: they are
// not put in force once more.
func TestRollbackBeforeTheWatcher(t *testing.T) {
	f := newFile(t, "rules: [{name: login, limits: [5/h]}]\n")
	r := start(t, config.Sources{Path: f.path})
	f.write("rules: [{name: login, limits: [2/h]}]\n")
	seen, err := rulefile.Load(f.path)
	if err != nil {
		t.Fatal(err)
	}
	_, before := r.Rules()
	if _, err := r.Reload(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rollback(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	r.FileChanged(t.Context(), seen)
	if _, v := r.Rules(); v.Hash != before.Hash {
		t.Error("the file that was rolled back is in force again")
	}
	f.write("rules: [{name: login, limits: [3/h]}]\n")
	if seen, err = rulefile.Load(f.path); err != nil {
		t.Fatal(err)
	}
	r.FileChanged(t.Context(), seen)
	if c, _ := r.Rules(); c.Rules[0].Limits[0].Limit.Count != 3 {
		t.Error("a changed file is not put in force")
	}
}
