package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const profile = `mode: set
example.com/m/algo/a.go:1.1,2.2 3 0
example.com/m/algo/a.go:3.1,4.2 1 1
example.com/m/root.go:1.1,2.2 2 1
mode: set
example.com/m/algo/a.go:1.1,2.2 3 7
example.com/m/store/s.go:1.1,2.2 999 1
example.com/m/store/s.go:3.1,4.2 1 0
`

// invoke writes the profile to a file and runs the command on it.
func invoke(t *testing.T, profile string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cover.out")
	if err := os.WriteFile(name, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code = run(append(append([]string{"-module", "example.com/m"}, args...), name), &out, &errs)
	return code, out.String(), errs.String()
}

func TestTable(t *testing.T) {
	code, stdout, _ := invoke(t, profile, "-min", "algo=100", "-min", "store=99.9")
	want := " 100.0 %      2 of     2  .\n" +
		" 100.0 %      4 of     4  algo  (minimum 100 %)\n" +
		"  99.9 %    999 of  1000  store  (minimum 99.9 %)\n"
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, want 0; got\n%swant\n%s", code, stdout, want)
	}
}

func TestBelowMinimum(t *testing.T) {
	code, stdout, _ := invoke(t, profile, "-min", "store=99.95", "-min", ".=1")
	if code != 1 || !strings.Contains(stdout, "store  BELOW 99.95 %") {
		t.Errorf("exit code %d, want 1 and a remark; got\n%s", code, stdout)
	}
	code, stdout, _ = invoke(t, profile, "-min", "engine=0")
	if code != 1 || !strings.Contains(stdout, "engine  NOT IN THE PROFILE") {
		t.Errorf("package missing: exit code %d, want 1 and a remark; got\n%s", code, stdout)
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		profile string
		args    []string
		want    string
	}{
		{"mode: set\nnonsense\n", nil, "line 2: \"nonsense\" is not of the form"},
		{"a.go:1.1,2.2 x 1\n", nil, "line 1:"},
		{profile, []string{"-min", "algo"}, "want package=percent"},
		{profile, []string{"-min", "algo=101"}, "want package=percent"},
		{profile, []string{"more"}, "usage: cover"},
	} {
		code, _, stderr := invoke(t, c.profile, c.args...)
		if code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q %v: exit code %d, want 2; printed %q, want %q", c.profile, c.args, code, stderr, c.want)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"no-such-file"}, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "no-such-file") {
		t.Errorf("missing profile: exit code %d, printed %q", code, &stderr)
	}
	if code := run([]string{"-help"}, &stdout, &stderr); code != 0 {
		t.Errorf("-help: exit code %d, want 0", code)
	}
}
