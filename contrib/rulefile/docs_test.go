package rulefile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
)

// block is a fenced block of a page.
type block struct {
	line  int
	info  string // after the fence
	text  string
	after string // the text of the block that follows
}

func blocks(t *testing.T, path string) []block {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	inside := false
	for i, line := range strings.SplitAfter(string(data), "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && !inside:
			found = append(found, block{line: i + 1, info: info})
			inside = true
		case fence:
			inside = false
		case inside:
			found[len(found)-1].text += line
		}
	}
	for i := range found[:len(found)-1] {
		found[i].after = found[i+1].text
	}
	return found
}

// TestRulesPage loads every example of the page on rules and runs its tests; those that
// are marked as wrong have to give the error that is shown after them.
func TestRulesPage(t *testing.T) {
	good, wrong := 0, 0
	for _, b := range blocks(t, "../../docs/RULES.md") {
		switch b.info {
		case "yaml":
			good++
			t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) { goodBlock(t, b) })
		case "yaml wrong":
			wrong++
			t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
				_, err := Parse("rules.yaml", []byte(b.text), CheckTests())
				if err == nil || strings.TrimSpace(err.Error()) != strings.TrimSpace(b.after) {
					t.Errorf("the page shows another error than\n%v", err)
				}
			})
		}
	}
	if good < 15 || wrong < 3 {
		t.Errorf("only %d good and %d wrong examples were found", good, wrong)
	}
}

func goodBlock(t *testing.T, b block) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	r, err := Parse("RULES.md", []byte(b.text), Section("server", serverDefaults), Compile(rule.HashKey(secret)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
	if len(r.Tests) == 0 && len(r.Config.Rules) > 0 {
		t.Error("an example without tests")
	}
	for _, result := range RunTests(r) {
		if !result.Passed() {
			t.Error(result)
		}
	}
	if err := validate(t, []byte(b.text)); err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
}

// TestReadmePage: so are the rules in the project's README.
func TestReadmePage(t *testing.T) {
	good := 0
	for _, b := range blocks(t, "../../README.md") {
		if b.info == "yaml" {
			good++
			goodBlock(t, b)
		}
	}
	if good == 0 {
		t.Error("no rules were found")
	}
}
