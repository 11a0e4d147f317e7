package lint

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// bannedDirectives are those that bring another module into a user's build list.
var bannedDirectives = []string{"require", "replace", "tool"}

// checkGoMod finds directives of the root go.mod that name other modules.
func checkGoMod(fsys fs.FS) ([]Problem, error) {
	text, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("lint: cannot read the root go.mod: %w", err)
	}
	var problems []Problem
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n(", r) })
		if len(words) > 0 && slices.Contains(bannedDirectives, words[0]) {
			problems = append(problems, Problem{File: "go.mod", Line: number, Text: fmt.Sprintf(
				"the root module has a %q directive, but promises its users no dependencies; "+
					"put what needs it in a module of its own (server, contrib, bench, e2e, tools)", words[0])})
		}
	}
	return problems, nil
}
