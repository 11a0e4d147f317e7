package proxytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// Sluice runs the server with the rules of a file: if the path is not an absolute one,
// that of an example, with limits per hour, so that no budget grows during a test.
func Sluice(t testing.TB, rules string, args ...string) *Process {
	t.Helper()
	if !filepath.IsAbs(rules) {
		slow := map[string]string{"[5/m, 50/h]": "[5/h, 50/h]", "50/s burst=100": "50/h burst=100"}
		rules = filepath.Join(Example(t, filepath.Dir(rules), slow), filepath.Base(rules))
	}
	addr := FreeAddr(t)
	args = append([]string{"serve", "--config", rules, "--listen", addr}, args...)
	return Start(t, addr, exec.Command(program.Path(t), args...))
}

// Example copies the files of an example to a folder of the test, and replaces addresses
// in them. A text that is to be replaced and is in no file is a mistake.
func Example(t testing.TB, folder string, replace map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files, err := filepath.Glob(filepath.Join(program.Root, folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("proxytest: no files in %s: %v", folder, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for from, to := range replace {
			found[from] = found[from] || strings.Contains(text, from)
			text = strings.ReplaceAll(text, from, to)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from := range replace {
		if !found[from] {
			t.Errorf("proxytest: %q is in no file of %s", from, folder)
		}
	}
	return dir
}
