package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// metric is a row of the table in docs/OPERATIONS.md, which tests of server/metrics compare
// with the code.
type metric struct {
	labels    map[string]bool
	values    map[string]bool // of labels, where they are listed
	histogram bool
}

var (
	metricRow   = regexp.MustCompile("(?m)^\\| `(sluice_[a-z_]+)` \\|([^|]*)\\|([^|]*)\\|$")
	labelOfRow  = regexp.MustCompile("`([a-z_]+)`(:?)")
	metricInUse = regexp.MustCompile(`(\w+\()?\b((?:sluice|go|process)_[a-z0-9_]+)(?:\{([^}]*)\})?(\[)?`)
	matcher     = regexp.MustCompile(`([a-z_]+)(?:=~|!=|!~|=)"([^"]*)"`)
	grouping    = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
)

// targetLabels are added by Prometheus.
var targetLabels = []string{"job", "instance"}

// documented returns all metrics of sluice by name.
func documented(t *testing.T) map[string]metric {
	t.Helper()
	metrics := map[string]metric{}
	for _, row := range metricRow.FindAllStringSubmatch(read(t, "docs/OPERATIONS.md"), -1) {
		m := metric{map[string]bool{}, map[string]bool{}, strings.HasPrefix(strings.TrimSpace(row[3]), "histogram")}
		listed := false // values follow a label and a colon
		for _, word := range labelOfRow.FindAllStringSubmatch(row[2], -1) {
			if listed {
				m.values[word[1]] = true
			} else {
				m.labels[word[1]] = true
			}
			listed = listed || word[2] == ":"
		}
		metrics[row[1]] = m
	}
	if len(metrics) < 30 {
		t.Fatalf("only %d metrics found in docs/OPERATIONS.md: has the table another form?", len(metrics))
	}
	return metrics
}

// problems returns what is wrong with the metrics and labels of a query.
func problems(metrics map[string]metric, query string) (found []string) {
	complain := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	labels := slices.Concat(targetLabels, []string{"le"})
	uses := metricInUse.FindAllStringSubmatch(query, -1)
	if len(uses) == 0 {
		complain("no metric")
	}
	for _, use := range uses {
		function, name, selector, ranged := strings.TrimSuffix(use[1], "("), use[2], use[3], use[4] == "["
		if counts := counter(name); counts != (function == "rate" || function == "increase") && function != "label_values" {
			complain("%s in %q: counters, and nothing else, belong in rate or increase", name, use[0])
		} else if counts && !ranged && function != "label_values" {
			complain("%s has no range", name)
		}
		if !strings.HasPrefix(name, "sluice_") {
			continue // what comes with Go and the process is compared with a running server
		}
		m, ok := lookup(metrics, name)
		if !ok {
			complain("%s is not in docs/OPERATIONS.md", name)
			continue
		}
		for label := range m.labels {
			labels = append(labels, label)
		}
		for _, match := range matcher.FindAllStringSubmatch(selector, -1) {
			label, value := match[1], match[2]
			if !m.labels[label] && !slices.Contains(targetLabels, label) {
				complain("%s has no label %s", name, label)
			} else if len(m.values) > 0 && !strings.HasPrefix(value, "$") && !m.values[value] {
				complain("%s is never %s=%q", name, label, value)
			}
		}
	}
	for _, group := range grouping.FindAllStringSubmatch(query, -1) {
		for _, label := range strings.Split(group[1], ",") {
			if !slices.Contains(labels, strings.TrimSpace(label)) {
				complain("nothing has the label %s", label)
			}
		}
	}
	return found
}

func counter(name string) bool {
	return strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_count") || strings.HasSuffix(name, "_sum")
}

// lookup finds a metric by the name of one of its series.
func lookup(metrics map[string]metric, name string) (metric, bool) {
	if m, ok := metrics[name]; ok {
		return m, !m.histogram
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, cut := strings.CutSuffix(name, suffix); cut && metrics[base].histogram {
			return metrics[base], true
		}
	}
	return metric{}, false
}

// TestProblemsAreFound shows that the tests of dashboard and alerts can fail.
func TestProblemsAreFound(t *testing.T) {
	metrics := documented(t)
	for _, test := range []struct{ query, problem string }{
		{`rate(sluice_requests_total{outcome="denied",job=~"$job"}[5m])`, ""},
		{`sum by (rule, instance) (rate(sluice_decisions_total{rule=~"$rule"}[5m]))`, ""},
		{`histogram_quantile(0.9, sum by (le) (rate(sluice_decision_duration_seconds_bucket[5m])))`, ""},
		{`label_values(sluice_decisions_total{job=~"$job"}, rule)`, ""},
		{`max(sluice_breaker_open) == 1`, ""},
		{`vector(1)`, "no metric"},
		{`rate(sluice_request_total[5m])`, "not in docs"},
		{`rate(sluice_requests_total{outcome="refused"}[5m])`, "never outcome"},
		{`rate(sluice_requests_total{rule="a"}[5m])`, "no label rule"},
		{`sum by (door) (rate(sluice_requests_total[5m]))`, "label door"},
		{`sum(sluice_requests_total)`, "belong in rate"},
		{`rate(sluice_memory_keys[5m])`, "belong in rate"},
		{`rate(sluice_requests_total)`, "no range"},
		{`max(sluice_decision_duration_seconds)`, "not in docs"},
		{`rate(sluice_rules_count[5m])`, "not in docs"},
	} {
		found := strings.Join(problems(metrics, test.query), "; ")
		if test.problem == "" && found != "" || !strings.Contains(found, test.problem) {
			t.Errorf("%s: found %q, want %q", test.query, found, test.problem)
		}
	}
}
