package httplimit_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocs: every Go block of the page is compiled and run as part of an example.
func TestDocs(t *testing.T) {
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/HTTP.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) != 13 {
		t.Errorf("%d Go blocks, want 13", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		indented := "\t" + strings.ReplaceAll(strings.TrimSpace(b), "\n", "\n\t")
		if !strings.Contains(string(code), indented+"\n") {
			t.Errorf("not compiled anywhere:\n%s", b)
		}
	}
}
