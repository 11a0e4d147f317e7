package rulefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// write makes files in a new directory.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func named(name string) string {
	return fmt.Sprintf("rules:\n  - name: %s\n    match: {paths: [/%s]}\n    limits: [1/s]\n", name, name)
}

func ruleNames(r *Result) string {
	var names []string
	for _, c := range r.Config.Rules {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

func TestLoadDirectory(t *testing.T) {
	dir := write(t, map[string]string{
		"20-b.yml": named("b"), "10-a.yaml": named("a"), "30-c.yaml": "default: deny\n" + named("c"),
		".hidden.yaml": "broken", "notes.txt": "broken", "a.yaml~": "broken",
	})
	if err := os.Mkdir(filepath.Join(dir, "more.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := ruleNames(r); got != "a b c" || r.Config.Default != rule.Deny || len(r.Files) != 3 || len(r.Set.Rules()) != 3 {
		t.Errorf("got rules %s, default %s, files %v", got, r.Config.Default, r.Files)
	}
}

func TestLoadLinks(t *testing.T) {
	dir := t.TempDir()
	mount(t, dir, "one", named("a"))
	for _, path := range []string{dir, filepath.Join(dir, "rules.yaml")} {
		r, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruleNames(r); got != "a" {
			t.Errorf("%s: got %s", path, got)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	huge := named("a") + strings.Repeat("#", MaxSize/2) + "\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"no file", nil, []string{"no *.yaml or *.yml file"}},
		{"too large", map[string]string{"a.yaml": huge, "b.yaml": huge}, []string{"b.yaml", "10485760"}},
		{
			"default twice",
			map[string]string{"a.yaml": "default: deny\n" + named("a"), "b.yaml": "default: allow\n" + named("b")},
			[]string{"b.yaml:1:1", `"default" is set twice: also at`, "a.yaml:1:10"},
		},
		{
			"same name",
			map[string]string{"a.yaml": named("x"), "b.yaml": named("x")},
			[]string{"b.yaml:2:11", `the name "x" is taken by the rule at`, "a.yaml:2:11"},
		},
		{
			"all problems of all files",
			map[string]string{"a.yaml": "rules: 1\n", "b.yaml": "x: 1\n", "c.yaml": ""},
			[]string{"a.yaml:1:8", "b.yaml:1:1", "c.yaml:1:1"},
		},
		{
			"finding in the second file",
			map[string]string{"a.yaml": named("a"), "b.yaml": "rules:\n- name: b\n  key: [usr]\n  limits: [1/s]\n"},
			[]string{"b.yaml:3:9", `unknown part "usr"`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(write(t, test.files))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load("/dev/null"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// A file that is written to is read again, some times.
func TestReadUntilSettled(t *testing.T) {
	for busy, want := range map[int]error{0: nil, 4: nil, 5: errBusy} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, err := untilSettled(func() ([]*source, error) {
				if tries++; tries <= busy {
					return nil, fmt.Errorf("%w: x", errBusy)
				}
				return nil, nil
			})
			if !errors.Is(err, want) {
				t.Errorf("busy %d times: %v", busy, err)
			}
		})
	}
}

// What fails in tests of the file is not counted with real requests.
func TestConditionsOfTestsAreNotCounted(t *testing.T) {
	text := `
rules:
  - {name: a, match: {when: int(user) > 3}, limits: [1/h]}
tests:
  - name: garbage
    steps:
      - {request: GET / user=x, expect: allow, rule: a}
`
	conditions := NewConditions()
	r, err := Parse("x.yaml", []byte(text), WithConditions(conditions), CheckTests())
	if err != nil || conditions.Failed() != 0 {
		t.Errorf("%d failed, %v", conditions.Failed(), err)
	}
	r.Set.Match(&rule.Request{Path: "/", User: "x"}, &rule.Matches{})
	if conditions.Failed() != 1 {
		t.Errorf("%d failed", conditions.Failed())
	}
}

// Tests that begin at the same time share a set.
func TestRunTestsCompilesOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString(named("a") + "tests:\n")
	for i := range 20 {
		start := ""
		if i%2 == 1 {
			start = ", start: 2026-03-01T00:00:00Z"
		}
		fmt.Fprintf(&b, "  - {name: t%d%s, steps: [{request: GET /a, expect: allow}]}\n", i, start)
	}
	compiled := 0
	counting := rule.Conditions(func(string) (func(*rule.Request) bool, error) {
		compiled++
		return func(*rule.Request) bool { return true }, nil
	})
	text := strings.Replace(b.String(), "paths: [/a]", "when: 'true'", 1)
	if _, err := Parse("x.yaml", []byte(text), CheckTests(), Compile(counting)); err != nil {
		t.Fatal(err)
	}
	if compiled != 3 {
		t.Errorf("compiled %d times, want once for requests and once for each start", compiled)
	}
}

// Problems are told to programs as JSON.
func TestProblemJSON(t *testing.T) {
	_, err := Parse("x.yaml", []byte("rules:\n  - {name: a, math: 1, limits: [1/s]}\n"))
	data, _ := json.Marshal(err)
	want := `[{"file":"x.yaml","line":2,"column":15,"rule":"a","field":"math","reason":"unknown field \"math\"",` +
		`"hint":"did you mean \"match\"?","warning":false}]`
	if string(data) != want {
		t.Errorf("got %s", data)
	}
}

func TestSections(t *testing.T) {
	text := named("a") + "server:\n  timeout: 5s\n"
	r, err := Parse("x.yaml", []byte(text), Section("server", serverDefaults), Section("gateway", serverDefaults))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Section("server"); got != (serverSettings{Listen: ":80", Timeout: 5 * time.Second}) {
		t.Errorf("got %+v", got)
	}
	if got := r.Section("gateway"); got != serverDefaults {
		t.Errorf("got %+v", got)
	}
	if serverDefaults.Timeout != time.Second {
		t.Error("the defaults changed")
	}
	if p := r.At("server", "timeout", "too long", ""); p.Line != 6 || p.Column != 12 || p.Field != "server.timeout" {
		t.Errorf("got %+v", p)
	}
	if p := r.At("gateway", "listen", "taken", ""); p.File != "x.yaml" || p.Line != 0 {
		t.Errorf("got %+v", p)
	}
	raw, err := Parse("x.yaml", []byte(text), Section("server", nil))
	if err != nil || fmt.Sprint(raw.Section("server")) != "map[timeout:5s]" {
		t.Error(raw, err)
	}
	if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), `unknown section "server"`) {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	text := "rules:\n  - name: a\n    limits: [10/s, 1000/s]\n"
	r, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) == 0 || r.Warnings[0].Line != 3 || !strings.Contains(r.Warnings.Error(), "warning: ") {
		t.Errorf("got %v", r.Warnings)
	}
}

// Positions hold in spite of a byte order mark, line ends of Windows and letters of
// several bytes.
func TestPositions(t *testing.T) {
	text := "\ufeff# größe\r\nrules:\r\n  - {name: a, key: [\"const:ä\"], nope: 1, limits: [1/s]}\r\n"
	_, err := Parse("x.yaml", []byte(text))
	var problems Problems
	if !errors.As(err, &problems) || problems[0].Line != 3 || problems[0].Column != 33 {
		t.Errorf("got %v", err)
	}
}

func TestManyRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  - name: rule-%d\n    match: {paths: [/p%d], methods: [GET]}\n    key: [ip]\n    limits: [10/s, 100/m]\n", i, i)
	}
	r, err := Parse("x.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Config.Rules) != 2000 {
		t.Error(len(r.Config.Rules))
	}
}

// An expression sees paths as the rules compare them: decoded once and not twice (a
// percent sign stays %25), without dots, and in lower case if case is not to count.
func TestConditionSeesCanonicalPaths(t *testing.T) {
	text := `
paths: {fold_case: true}
rules:
  - {name: a, match: {when: path == "/login"}, limits: [1/h]}
  - {name: b, match: {when: path == "/x%2561"}, limits: [1/h]}
tests:
  - name: another spelling is the same path
    steps:
      - {request: GET /login, expect: allow, rule: a}
      - {request: GET //v1/../Log%49n/, expect: deny, rule: a}
      - {request: GET /%78%2561, expect: allow, rule: b}
      - {request: GET /x%61, expect: allow, rule: ""}
`
	if _, err := Parse("x.yaml", []byte(text), CheckTests()); err != nil {
		t.Error(err)
	}
}
