package proxytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

var block = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// Page returns the blocks without a language of a page of the documentation: commands,
// and what is printed.
func Page(t testing.TB, name string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(program.Root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, parts := range block.FindAllStringSubmatch(string(text), -1) {
		if parts[1] == "" {
			blocks = append(blocks, parts[2])
		}
	}
	return blocks
}

// BlockWith returns the lines of the block of a page in which a text stands.
func BlockWith(t testing.TB, page, text string) []string {
	t.Helper()
	for _, lines := range Page(t, page) {
		if strings.Contains(lines, text) {
			return strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
		}
	}
	t.Fatalf("proxytest: %q is in no block of %s", text, page)
	return nil
}

// Shell is a command line of a page as somebody types it in a folder, with the program
// sluice in the path. Texts are replaced, given as old and new in turn; each has to be
// there.
func Shell(t testing.TB, dir, line string, replace ...string) *exec.Cmd {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(line, replace[i]) {
			t.Fatalf("proxytest: %q is not in %q", replace[i], line)
		}
		line = strings.ReplaceAll(line, replace[i], replace[i+1])
	}
	if !strings.ContainsAny(line, "&|;") {
		line = "exec " + line // so that it can be ended
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	path := filepath.Dir(program.Path(t)) + ":" + os.Getenv("PATH") + ":/usr/sbin"
	cmd.Env = append(os.Environ(), "PATH="+path)
	return cmd
}
