package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errStale marks a mutant whose original text is not to be found, or not only once.
var errStale = errors.New("stale")

// apply returns the source with the mutant's original replaced.
func (m *mutant) apply(source string) (string, error) {
	lines := strings.Split(source, "\n")
	trimmed := trimAll(lines)
	start, err := m.start(lines)
	if err != nil {
		return "", err
	}
	found := find(trimmed[start:], m.old)
	switch {
	case len(found) == 0:
		return "", fmt.Errorf("%w: the original text is not in %s%s", errStale, m.file, m.where())
	case len(found) > 1 && m.after == "":
		return "", fmt.Errorf("%w: the original text occurs %d times in %s, at lines %s; add lines around it, or an after: line",
			errStale, len(found), m.file, join(found))
	}
	at := start + found[0]
	return strings.Join(slices.Concat(lines[:at], m.repl, lines[at+len(m.old):]), "\n"), nil
}

// start returns the index of the first line in which the original may begin.
func (m *mutant) start(lines []string) (int, error) {
	if m.after == "" {
		return 0, nil
	}
	var found []int
	for i, line := range lines {
		if strings.Contains(line, m.after) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%w: the text of after: %q is on %d lines of %s; it must be on one", errStale, m.after, len(found), m.file)
	}
	return found[0] + 1, nil
}

func (m *mutant) where() string {
	if m.after == "" {
		return ""
	}
	return fmt.Sprintf(" after %q", m.after)
}

// find returns every index at which all wanted lines follow one another.
func find(lines, wanted []string) []int {
	var found []int
	for i := 0; i+len(wanted) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(wanted)], wanted) {
			found = append(found, i)
		}
	}
	return found
}

// join prints indices as line numbers.
func join(indices []int) string {
	numbers := make([]string, len(indices))
	for i, index := range indices {
		numbers[i] = strconv.Itoa(index + 1)
	}
	return strings.Join(numbers, ", ")
}
