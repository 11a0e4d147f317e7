package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// module is a tiny module under test: one function checked well, one not at all.
var module = map[string]string{
	"go.mod": "module example.com/tiny\n\ngo 1.26\n",
	"calc/calc.go": "package calc\n\n// Max gives the greater one.\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n\n" +
		"// Min gives the smaller one.\nfunc Min(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
	"calc/calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif Max(1, 2) != 2 || Max(2, 1) != 2 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
}

const tinyList = `
name: max: the wrong one
file: calc/calc.go
test: ./calc
-	if a > b {
+	if a <= b {

name: max: crashes
file: calc/calc.go
test: ./calc
-	if a > b {
+	if a > b || a/(a-a) > 0 {

name: max: never ends
file: calc/calc.go
test: ./calc
-	if a > b {
+	for a > b {
+	}
+	if a > b {

name: min: the wrong one
file: calc/calc.go
test: ./calc
after: func Min(
 	if a < b {
-		return a
+		return b

name: max: does not compile
file: calc/calc.go
test: ./calc
-	if a > b {
+	if a > c {

name: max: gone
file: calc/calc.go
test: ./calc
-	if b < a {
+	if b > a {

name: file gone
file: calc/gone.go
test: ./calc
-	x
+	y
`

// tiny writes the module and the list to a folder, and returns the flags that name them.
func tiny(t *testing.T, list string) []string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	dir := t.TempDir()
	for name, text := range module {
		writeFile(t, filepath.Join(dir, name), text)
	}
	writeFile(t, filepath.Join(dir, "list.txt"), list)
	return []string{"-root", dir, "-list", filepath.Join(dir, "list.txt")}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestOutcomes(t *testing.T) {
	args := tiny(t, tinyList)
	code, stdout, stderr := invoke(t, append(args, "-timeout=3s")...)
	if code != 1 || stderr != "" {
		t.Errorf("exit code %d, want 1; standard error %q, want nothing", code, stderr)
	}
	for _, want := range []string{
		`(?m)^unchanged  \./calc passes`,
		`(?m)^killed     max: the wrong one \(.*\): by calc\.TestMax$`,
		`(?m)^killed     max: crashes \(.*\): by calc\.TestMax$`,
		`(?m)^killed     max: never ends \(.*\): by running out of time$`,
		`(?m)^SURVIVED   min: the wrong one \(.*\): \./calc passed; listed at line 22$`,
		`(?m)^BROKEN     max: does not compile \(.*\): does not compile\n(    .*\n)*.*undefined: c`,
		`(?m)^STALE      max: gone \(.*\): stale: the original text is not in calc/calc.go$`,
		`(?m)^STALE      file gone \(.*\): stale: cannot read the file`,
		`(?m)^mutants: 7 tried, 3 killed, 1 survived, 2 stale, 1 broken$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("not printed: %s", want)
		}
	}
	source, err := os.ReadFile(filepath.Join(args[1], "calc", "calc.go"))
	if err != nil || string(source) != module["calc/calc.go"] {
		t.Errorf("the working tree was touched: %v\n%s", err, source)
	}
	if t.Failed() {
		t.Logf("printed:\n%s", stdout)
	}
}

func TestChosenByName(t *testing.T) {
	code, stdout, _ := invoke(t, append(tiny(t, tinyList), "-run", "max: the", "-v")...)
	if code != 0 || !strings.Contains(stdout, "mutants: 1 tried, 1 killed") || !strings.Contains(stdout, "--- FAIL: TestMax") {
		t.Errorf("exit code %d, want 0, one mutant and the tests' output; printed:\n%s", code, stdout)
	}
}

func TestDryRun(t *testing.T) {
	code, stdout, _ := invoke(t, append(tiny(t, tinyList), "-n")...)
	if code != 1 || strings.Count(stdout, "fits ") != 5 || !strings.Contains(stdout, "2 stale") {
		t.Errorf("exit code %d, want 1, 5 that fit and 2 stale; printed:\n%s", code, stdout)
	}
}

func TestEmptyList(t *testing.T) {
	code, stdout, _ := invoke(t, tiny(t, "# nothing yet\n")...)
	if code != 0 || !strings.Contains(stdout, "mutants: 0 tried") {
		t.Errorf("exit code %d, want 0; printed:\n%s", code, stdout)
	}
}

func TestFailingWithoutMutant(t *testing.T) {
	args := tiny(t, tinyList)
	writeFile(t, filepath.Join(args[1], "calc", "bad_test.go"), "package calc\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"bad\") }\n")
	code, stdout, stderr := invoke(t, args...)
	if code != 2 || !strings.Contains(stderr, "fail already without a mutant") || !strings.Contains(stderr, "TestBad") {
		t.Errorf("exit code %d, want 2 and the reason; printed %q, %q", code, stdout, stderr)
	}
}

func TestBadUse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-run", "("}, "-run is not a regular expression"},
		{[]string{"-j", "0"}, "-j and -timeout must be greater than zero"},
		{[]string{"bucket"}, `unexpected argument "bucket"`},
		{[]string{"-list", "no-such-file"}, "cannot read the list of mutants"},
		{tiny(t, "nonsense\n"), `list.txt:1: cannot read "nonsense"`},
	} {
		if code, _, stderr := invoke(t, c.args...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, want 2; printed %q, want %q", c.args, code, stderr, c.want)
		}
	}
	if code, _, stderr := invoke(t, "-help"); code != 0 || !strings.HasPrefix(stderr, "usage: mutants") {
		t.Errorf("-help: exit code %d, printed %q", code, stderr)
	}
}
