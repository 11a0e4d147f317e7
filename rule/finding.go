package rule

import (
	"fmt"
	"strings"
)

// Finding is one thing that is wrong, or looks like a mistake.
type Finding struct {
	Rule    string // its name
	Index   int    // its number in Config.Rules, from 0; -1 if it is about the whole
	Field   string // where: limits[1].scope
	Reason  string // what is wrong
	Hint    string // what to do
	Warning bool   // it works, but hardly as meant
}

// String says all of it in one line.
func (f Finding) String() string {
	var b strings.Builder
	if f.Warning {
		b.WriteString("warning: ")
	}
	switch {
	case f.Rule != "":
		fmt.Fprintf(&b, "rule %q: ", clip(f.Rule))
	case f.Index >= 0:
		fmt.Fprintf(&b, "rules[%d]: ", f.Index)
	}
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	b.WriteString(f.Reason)
	if f.Hint != "" {
		b.WriteString(" (" + f.Hint + ")")
	}
	return b.String()
}

// Findings are an error if one of them is none but a warning; see Err.
type Findings []Finding

// Error lists them, one per line.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, finding := range f {
		lines[i] = finding.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns those that are errors, as Findings, or nil.
func (f Findings) Err() error {
	var errs Findings
	for _, finding := range f {
		if !finding.Warning {
			errs = append(errs, finding)
		}
	}
	if errs == nil {
		return nil
	}
	return errs
}

// report collects findings about one rule.
type report struct {
	findings *Findings
	rule     string
	index    int
}

// fault reports what is wrong. The reason begins with the value that is wrong, in
// quotes, or says what the field is or does; the field itself is told already.
func (r report) fault(field, hint, reason string, args ...any) {
	*r.findings = append(*r.findings, Finding{
		Rule: r.rule, Index: r.index, Field: field, Reason: fmt.Sprintf(reason, args...), Hint: hint,
	})
}

func (r report) warn(field, hint, reason string, args ...any) {
	r.fault(field, hint, reason, args...)
	(*r.findings)[len(*r.findings)-1].Warning = true
}

// clip shortens what a finding quotes.
func clip(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}

// suggest returns a hint that names the known word that is nearest to a wrong one,
// or all of them if none is near.
func suggest(wrong string, known ...string) string {
	best, least := "", len(wrong)/3+2
	for _, word := range known {
		if d := distance(strings.ToLower(wrong), word); d < min(least, len(word), len(wrong)) {
			best, least = word, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "use " + oneOf(known)
}

func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// distance is how many letters have to be put in, taken out, replaced or swapped with
// their neighbour to get from a to b. Long texts are never near.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 1 << 10
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
