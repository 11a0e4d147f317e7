package algotest

import (
	"fmt"
	"strings"
)

// rewrite returns the text of a file with every expected value that stands in
// it as the [Model] answers. Nothing else changes: a value that is right stays
// as it is written, and the columns behind one that changes keep their place if
// there is room.
func rewrite(f *file) (string, error) {
	lines := append([]string(nil), f.lines...)
	for _, s := range f.scripts {
		p := newPlayer()
		p.store = NewModel(p.now)
		if err := p.play(s); err != nil {
			return "", fmt.Errorf("%s:%d: %w", f.name, p.line, err)
		}
		for i := len(p.diffs) - 1; i >= 0; i-- { // from the right, so that columns stay true
			d := p.diffs[i]
			lines[d.line-1] = replace(lines[d.line-1], d)
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"), nil
}

// replace puts what was got in the place of what was wanted.
func replace(line string, d diff) string {
	before, after := line[:d.col], line[d.col+len(d.value):]
	grown := len(d.got) - len(d.value)
	room := len(after) - len(strings.TrimLeft(after, " "))
	switch {
	case grown > 0 && room > 1:
		after = after[min(grown, room-1):]
	case grown < 0 && room > 1:
		after = strings.Repeat(" ", -grown) + after
	}
	return before + d.got + after
}
