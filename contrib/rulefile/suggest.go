package rulefile

import (
	"fmt"
	"slices"
	"strings"
)

// suggest returns `did you mean "x"?` for the nearest of the names, or a list of
// all if none is near.
func suggest(wrong string, names []string) string {
	if best := nearestName(wrong, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(names) == 0 {
		return ""
	}
	return "use " + oneOf(names)
}

// nearestName returns the name that a wrong one was meant to be, or "". It is worse to
// name another one than none: a third of the letters may be wrong, and one more if the
// first is right.
func nearestName(wrong string, names []string) string {
	wrong = strings.ToLower(wrong)
	best, least := "", len(wrong)/3+2
	for _, name := range names {
		most := least
		if wrong == "" || name == "" || wrong[0] != name[0] {
			most = min(least, len(wrong)/3+1)
		}
		if d := distance(wrong, name, most); d < most {
			best, least = name, d
		}
	}
	return best
}

// oneOf writes "a, b or c".
func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// distance counts the letters to insert, remove or replace to get from a to b, up to
// a bound.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
		if slices.Min(row) >= most {
			return most
		}
	}
	return row[len(b)]
}
