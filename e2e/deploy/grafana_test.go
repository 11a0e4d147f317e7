package deploy

import (
	"encoding/json"
	"strings"
	"testing"
)

const dashboardFile = "deploy/grafana/sluice.json"

// dashboard is what the tests look at.
type dashboard struct {
	Title, UID string
	Panels     []panel
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
	Annotations struct {
		List []struct{ Name, Expr string }
	}
}

type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Datasource  struct{ UID string }
	Targets     []struct{ RefID, Expr string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatalf("%s: %v", dashboardFile, err)
	}
	if d.Title == "" || d.UID == "" || len(d.Panels) == 0 {
		t.Fatalf("%s has no title, uid or panels", dashboardFile)
	}
	return d
}

// queries returns all queries by the name of where they stand.
func (d *dashboard) queries() map[string]string {
	all := map[string]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all[p.Title+" "+target.RefID] = target.Expr
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			all["variable "+v.Name] = v.Query
		}
	}
	for _, a := range d.Annotations.List {
		all["annotation "+a.Name] = a.Expr
	}
	return all
}

func TestDashboardQueries(t *testing.T) {
	metrics, d := documented(t), readDashboard(t)
	var all strings.Builder
	for where, query := range d.queries() {
		for _, problem := range problems(metrics, query) {
			t.Errorf("%s: %s: %s", where, problem, query)
		}
		all.WriteString(query + "\n")
	}
	for _, name := range []string{
		"sluice_decisions_total", "sluice_candidate_decisions_total", `outcome="denied"`, `outcome="shadow_denied"`,
		"sluice_decision_duration_seconds_bucket", "sluice_store_call_duration_seconds_bucket", "sluice_store_errors_total",
		"sluice_breaker_open", "sluice_degraded_decisions_total", "sluice_memory_bytes", "sluice_memory_evicted_keys_total",
		"sluice_reload_last_success", "sluice_rules_info", "sluice_rule_offered_per_second", "sluice_rule_saturation_ratio",
		"sluice_denial_cache_hits_total", "sluice_lease_taken_tokens_total", "sluice_memory_limit_bytes",
	} {
		if !strings.Contains(all.String(), name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func TestDashboardPanels(t *testing.T) {
	d := readDashboard(t)
	ids, titles := map[int]string{}, map[string]bool{}
	for i, p := range d.Panels {
		if other, taken := ids[p.ID]; p.ID <= 0 || taken {
			t.Errorf("%s: the id %d is not positive, or that of %q too", p.Title, p.ID, other)
		}
		if p.Title == "" || titles[p.Title] {
			t.Errorf("panel %d: the title %q is empty, or stands twice", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = p.Title, true
		if p.Type != "row" && (len(p.Targets) == 0 || p.Datasource.UID != "${datasource}") {
			t.Errorf("%s asks nothing, or not the data source that the reader has chosen", p.Title)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.RefID == "" || refs[target.RefID] {
				t.Errorf("%s: the refId %q is empty, or stands twice", p.Title, target.RefID)
			}
			refs[target.RefID] = true
		}
		a := p.GridPos
		if a.W <= 0 || a.H <= 0 || a.X < 0 || a.X+a.W > 24 {
			t.Errorf("%s does not fit the grid: %+v", p.Title, a)
		}
		for _, q := range d.Panels[:i] {
			b := q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s lies over %s", p.Title, q.Title)
			}
		}
	}
}
