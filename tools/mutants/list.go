package main

import (
	"fmt"
	"os"
	"strings"
)

// A mutant is one listed way to break the code.
type mutant struct {
	name  string   // says what is broken
	file  string   // slash-separated, from the root
	tests []string // arguments of go test: packages, maybe flags
	after string   // text of the line after which the original is looked for, or ""
	old   []string // lines of the original, without the white space around them
	repl  []string // lines that replace them
	line  int      // where its block starts in the list
}

// readList reads the list named in the options and keeps the mutants that -run asks for.
func readList(opts *options) ([]*mutant, error) {
	text, err := os.ReadFile(opts.list)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of mutants: %w", err)
	}
	all, err := parseList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", opts.list, err)
	}
	var chosen []*mutant
	for _, m := range all {
		if opts.run.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// parseList reads a whole list. Errors start with the number of the line that is wrong.
func parseList(text string) ([]*mutant, error) {
	var mutants []*mutant
	names := map[string]int{}
	finish := func(m *mutant) error {
		if err := m.validate(); err != nil {
			return fmt.Errorf("%d: %w", m.line, err)
		}
		if first := names[m.name]; first > 0 {
			return fmt.Errorf("%d: the mutant of line %d is also named %q; names tell them apart", m.line, first, m.name)
		}
		names[m.name] = m.line
		mutants = append(mutants, m)
		return nil
	}
	var open *mutant
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "" && open != nil:
			if err := finish(open); err != nil {
				return nil, err
			}
			open = nil
		case line == "":
		default:
			if open == nil {
				open = &mutant{line: i + 1}
			}
			if err := open.add(line); err != nil {
				return nil, fmt.Errorf("%d: %w", i+1, err)
			}
		}
	}
	if open != nil {
		return mutants, finish(open)
	}
	return mutants, nil
}

// add takes in one line of the mutant's block.
func (m *mutant) add(line string) error {
	code := strings.TrimSpace(line[1:])
	switch line[0] {
	case ' ', '\t':
		m.old, m.repl = append(m.old, code), append(m.repl, line[1:])
		return nil
	case '-':
		m.old = append(m.old, code)
		return nil
	case '+':
		m.repl = append(m.repl, line[1:])
		return nil
	}
	key, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch key {
	case "name":
		m.name = value
	case "file":
		m.file = value
	case "test":
		m.tests = append(m.tests, strings.Fields(value)...)
	case "after":
		m.after = value
	default:
		return fmt.Errorf("cannot read %q; want name:, file:, test:, after:, or a line of code after a space, - or +", line)
	}
	return nil
}

// validate says what a complete block lacks.
func (m *mutant) validate() error {
	switch {
	case m.name == "":
		return fmt.Errorf("a mutant has no name: line that says what it breaks")
	case m.file == "":
		return fmt.Errorf("mutant %q has no file: line", m.name)
	case len(m.tests) == 0:
		return fmt.Errorf("mutant %q has no test: line with the packages that must kill it", m.name)
	case strings.Join(m.old, "") == "":
		return fmt.Errorf("mutant %q has no original text (lines that start with - or a space)", m.name)
	case strings.Join(m.old, "\n") == strings.Join(trimAll(m.repl), "\n"):
		return fmt.Errorf("mutant %q changes nothing; give lines that start with - or +", m.name)
	}
	return nil
}

// trimAll returns the lines without the white space around them.
func trimAll(lines []string) []string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	return trimmed
}
