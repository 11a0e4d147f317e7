package main

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// blocks returns the fenced code blocks of the document in one language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	if len(out) < 5 {
		t.Fatalf("only %d blocks of %s", len(out), language)
	}
	return out
}

// TestLimitsInDocument parses every limit that the document writes down, and
// finds one for every algorithm.
func TestLimitsInDocument(t *testing.T) {
	seen := map[sluice.Algorithm]bool{}
	for _, block := range blocks(t, "text") {
		for line := range strings.Lines(block) {
			text, _, _ := strings.Cut(line, "#")
			limit, err := sluice.Parse(strings.TrimSpace(text))
			if err != nil {
				t.Errorf("%q: %v", strings.TrimSpace(line), err)
			}
			seen[limit.Algorithm] = true
		}
	}
	for _, a := range []sluice.Algorithm{
		sluice.TokenBucket, sluice.LeakyBucket, sluice.WarmUp, sluice.FixedWindow, sluice.SlidingWindow, sluice.SlidingLog,
	} {
		if !seen[a] {
			t.Errorf("no limit of %s", a)
		}
	}
}

// TestCodeInDocument runs all Go code of the document in one program. What a
// Println prints must be what the comment behind it says.
func TestCodeInDocument(t *testing.T) {
	var body, mains strings.Builder
	var want []string
	comment := regexp.MustCompile(`fmt\.Println\(.*\) +// (.*)`)
	for i, block := range blocks(t, "go") {
		if pretty, err := format.Source([]byte(block)); err != nil || string(pretty) != block {
			t.Errorf("not formatted (%v):\n%s", err, pretty)
		}
		fmt.Fprintf(&body, "func block%d() {\n%s}\n\n", i, block)
		fmt.Fprintf(&mains, "\tblock%d()\n", i)
		for _, m := range comment.FindAllStringSubmatch(block, -1) {
			want = append(want, m[1])
		}
	}
	got := runProgram(t, body.String(), mains.String())
	for i, line := range strings.Split(strings.TrimSpace(got), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d is %q; the document says\n%s", i+1, line, strings.Join(want, "\n"))
		}
	}
	if n := strings.Count(got, "\n"); n != len(want) {
		t.Errorf("%d lines printed, the document has %d", n, len(want))
	}
}

// runProgram compiles a program as a user of the root module would, and returns
// what it prints.
func runProgram(t *testing.T, body, mains string) string {
	t.Helper()
	imports := ""
	for _, path := range []string{"context", "fmt", "time", "github.com/sluice-limiter/sluice"} {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).MatchString(body) {
			imports += "\t" + strconv.Quote(path) + "\n"
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": "package main\n\nimport (\n" + imports + ")\n\nfunc main() {\n" + mains + "}\n\n" + body,
		"go.mod": "module example.com/document\n\ngo 1.26\n\nrequire github.com/sluice-limiter/sluice v0.0.0\n\n" +
			"replace github.com/sluice-limiter/sluice => " + strconv.Quote(filepath.ToSlash(root)) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the code of the document: %v\n%s", err, errs.String())
	}
	return string(out)
}
