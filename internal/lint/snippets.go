package lint

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// checkSnippets finds Go code in Markdown that stands in no Go file of any module, and so is
// compiled by nobody. Indentation does not count.
func checkSnippets(fsys fs.FS) ([]Problem, error) {
	var code strings.Builder
	pages := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			pages[name] = string(text)
		} else {
			code.WriteString(flat(string(text)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lint: reading Markdown: %w", err)
	}
	all := code.String()
	var problems []Problem
	for name, text := range pages {
		for _, s := range snippets(text) {
			if !strings.Contains(all, flat(s.text)) {
				problems = append(problems, Problem{name, s.line, "this Go code stands in no Go file: make it part of an example or a test, word for word"})
			}
		}
	}
	return problems, nil
}

// snippet is a block of Go code in a page.
type snippet struct {
	line int
	text string
}

func snippets(page string) []snippet {
	var found []snippet
	inside, line := false, 0
	for text := range strings.Lines(page) {
		line++
		switch fence := strings.TrimSpace(text); {
		case !inside && fence == "```go":
			inside = true
			found = append(found, snippet{line: line})
		case inside && fence == "```":
			inside = false
		case inside:
			found[len(found)-1].text += text
		}
	}
	return found
}

// flat is text without indentation and empty lines.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
