package deploy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const alertsFile = "deploy/prometheus/alerts.yaml"

// alert is a rule of Prometheus.
type alert struct {
	name, expr, wait    string
	labels, annotations map[string]string
}

var forHow = regexp.MustCompile(`^[1-9][0-9]*[smhd]$`)

// readAlerts reads the little YAML that alerts need, and refuses everything else: maps and
// lists in block form, a map in braces with one entry, plain text. What it accepts means
// the same to every reader of YAML.
func readAlerts(text string) (alerts []alert, err error) {
	var open map[string]string // labels or annotations, while their lines follow
	for i, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
			continue
		case !ok || !plain(value):
			return nil, fmt.Errorf("line %d: %q is not plain enough", i+1, line)
		case indent == 0 && key == "groups" || indent == 4 && key == "rules":
			ok = value == "" && len(alerts) == 0
		case indent == 2 && key == "- name":
			ok = value != "" && len(alerts) == 0
		case indent == 6 && key == "- alert":
			alerts = append(alerts, alert{name: value, labels: map[string]string{}, annotations: map[string]string{}})
			open = nil
		case indent == 8 && len(alerts) > 0:
			open, ok = alerts[len(alerts)-1].set(key, value)
		case indent == 10 && open != nil:
			_, twice := open[key]
			open[key], ok = value, value != "" && !twice
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("line %d: %q does not belong here", i+1, line)
		}
	}
	return alerts, nil
}

// plain reports whether YAML takes a text as it stands, or it is a map with one entry.
func plain(value string) bool {
	if inner, braces := strings.CutPrefix(value, "{"); braces {
		key, text, ok := strings.Cut(strings.TrimSuffix(inner, "}"), ": ")
		return ok && strings.HasSuffix(inner, "}") && plain(key) && plain(text) && !strings.ContainsAny(text, ",[]{}")
	}
	return !strings.Contains(value, ": ") && !strings.Contains(value, " #") && !strings.HasSuffix(value, ":") &&
		(value == "" || !strings.ContainsRune("[]}&*!|>%@`'\",#?-", rune(value[0])))
}

// set sets a field. It returns the map that the lines below belong to, and whether the
// field can be, and was not there before.
func (a *alert) set(key, value string) (map[string]string, bool) {
	fields := map[string]*string{"expr": &a.expr, "for": &a.wait}
	if field := fields[key]; field != nil {
		fresh := *field == ""
		*field = value
		return nil, fresh && value != ""
	}
	below := map[string]map[string]string{"labels": a.labels, "annotations": a.annotations}[key]
	if below == nil || len(below) > 0 {
		return nil, false
	}
	if value == "" {
		return below, true
	}
	entry, text, ok := strings.Cut(strings.Trim(value, "{}"), ": ")
	below[entry] = text
	return nil, ok && value[0] == '{'
}

func TestAlerts(t *testing.T) {
	metrics := documented(t)
	alerts, err := readAlerts(read(t, alertsFile))
	if err != nil || len(alerts) == 0 {
		t.Fatalf("%s: %d alerts, %v", alertsFile, len(alerts), err)
	}
	names := map[string]bool{}
	for _, a := range alerts {
		if !strings.HasPrefix(a.name, "Sluice") || names[a.name] {
			t.Errorf("the name %q does not begin with Sluice, or stands twice", a.name)
		}
		names[a.name] = true
		for _, problem := range problems(metrics, a.expr) {
			t.Errorf("%s: %s: %s", a.name, problem, a.expr)
		}
		if strings.Count(a.expr, "(") != strings.Count(a.expr, ")") || !regexp.MustCompile(`(==|>|<) [0-9.]+$`).MatchString(a.expr) {
			t.Errorf("%s: %q compares nothing with a number, or misses a parenthesis", a.name, a.expr)
		}
		if !forHow.MatchString(a.wait) {
			t.Errorf("%s: for: %q is no duration", a.name, a.wait)
		}
		if keys := slices.Sorted(maps.Keys(a.annotations)); !slices.Equal(keys, []string{"description", "summary"}) {
			t.Errorf("%s has the annotations %v, want description and summary", a.name, keys)
		}
		if s := a.labels["severity"]; len(a.labels) != 1 || s != "page" && s != "ticket" {
			t.Errorf("%s has the labels %v, want severity: page or ticket", a.name, a.labels)
		}
	}
}

// TestAlertsAreDocumented compares the file with the page, in both directions.
func TestAlertsAreDocumented(t *testing.T) {
	_, page, _ := strings.Cut(read(t, "docs/OPERATIONS.md"), "\n## Alerts\n")
	_, page, _ = strings.Cut(page, "```yaml\n")
	page, _, _ = strings.Cut(page, "```")
	told, err := readAlerts(page)
	if err != nil || len(told) == 0 {
		t.Fatalf("docs/OPERATIONS.md: %d alerts, %v", len(told), err)
	}
	alerts, err := readAlerts(read(t, alertsFile))
	if err != nil {
		t.Fatal(err)
	}
	short := func(all []alert) (lines []string) {
		for _, a := range all {
			lines = append(lines, fmt.Sprintf("%s: %s for %s: %s", a.name, a.expr, a.wait, a.annotations["summary"]))
		}
		return lines
	}
	if a, b := strings.Join(short(alerts), "\n"), strings.Join(short(told), "\n"); a != b {
		t.Errorf("%s has\n%s\ndocs/OPERATIONS.md has\n%s", alertsFile, a, b)
	}
}

// TestBrokenAlerts shows that the reader refuses what Prometheus would not understand.
func TestBrokenAlerts(t *testing.T) {
	const head = "groups:\n  - name: a\n    rules:\n      - alert: A\n"
	for _, text := range []string{
		"rules:\n", head + "        exp: a\n", head + "        expr: a\n        expr: b\n", head + "       expr: a\n",
		head + "        expr: a: b\n", head + "        expr: a #b\n", head + "        expr: \"a\n", head + "        annotations: {summary: a, b}\n",
		head + "        annotations: {summary: a\n", head + "        labels:\n          a:\n", head + "          a: b\n", head + "        for\n",
	} {
		if _, err := readAlerts(text); err == nil {
			t.Errorf("accepted:\n%s", text)
		}
	}
}
