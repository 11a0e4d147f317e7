package rulefile

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file, or looks like a mistake.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`            // from 1; 0 if the problem is about the whole
	Column  int    `json:"column"`          // from 1, in characters
	Rule    string `json:"rule,omitempty"`  // the name of the rule that it is about; may be empty
	Field   string `json:"field,omitempty"` // where in the rule or the file: limits[1].scope
	Reason  string `json:"reason"`          // what is wrong
	Hint    string `json:"hint,omitempty"`  // what to do; may be empty
	Warning bool   `json:"warning"`         // it works, but hardly as meant

	text string // the line
}

// Problems are all that is wrong with a set of files, ordered by place.
type Problems []Problem

// maxShown bounds how many problems one error prints.
const maxShown = 50

// Error shows each with its place, the line, a caret, and a hint.
func (p Problems) Error() string {
	var b strings.Builder
	for i, problem := range p {
		if i == maxShown {
			fmt.Fprintf(&b, "\nand %d more", len(p)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(problem.String())
	}
	return b.String()
}

// sort orders by place and drops what is said twice.
func (p *Problems) sort() {
	slices.SortStableFunc(*p, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	*p = slices.CompactFunc(*p, func(a, b Problem) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Reason == b.Reason
	})
}

// String shows the place, the reason, the line with a caret, and the hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Reason)
	if p.Line > 0 {
		margin := fmt.Sprintf("%5d | ", p.Line)
		line, before := excerpt(p.text, p.Column)
		fmt.Fprintf(&b, "\n%s%s\n      | %s^", margin, line, before)
	}
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// maxExcerpt bounds how much of a long line is shown.
const maxExcerpt = 120

// excerpt returns what to show of a line, and the blanks that bring a caret under
// the column: tabs stay tabs, so that both lines are as wide.
func excerpt(text string, column int) (line, before string) {
	runes := []rune(text)
	column = min(max(column, 1), len(runes)+1)
	from := 0
	if column > maxExcerpt*3/4 {
		from = column - maxExcerpt/2
	}
	to := min(len(runes), from+maxExcerpt)
	blanks := make([]rune, 0, column-1-from)
	for i := from; i < to; i++ {
		if runes[i] < ' ' && runes[i] != '\t' {
			runes[i] = '�' // a terminal must not obey it
		}
		if i >= column-1 {
			continue
		}
		if runes[i] == '\t' {
			blanks = append(blanks, '\t')
		} else {
			blanks = append(blanks, ' ')
		}
	}
	return string(runes[from:to]), string(blanks)
}
