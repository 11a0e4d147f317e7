package redis

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Figure is what one contestant reached in one case.
type Figure struct {
	Name   string
	Kind   Kind
	Value  float64
	Counts bool     // it kept the limit and did what the case is about
	Cells  []string // further columns of the table
	Note   string
}

// Field is a further number or word of a case.
type Field struct{ Name, Value string }

// Bar is a mark that the library wants to reach.
type Bar struct {
	What      string
	Got, Want float64
	AtMost    bool // otherwise at least
}

// Holds reports whether the mark is reached.
func (b Bar) Holds() bool {
	if b.AtMost {
		return b.Got <= b.Want
	}
	return b.Got >= b.Want
}

// String says what was wanted and what came.
func (b Bar) String() string {
	sign := "≥"
	if b.AtMost {
		sign = "≤"
	}
	return fmt.Sprintf("%s %s, wanted %s %s", b.What, number(b.Got, true), sign, number(b.Want, true))
}

// Result is the outcome of one case.
type Result struct {
	Case    string
	Title   string
	Unit    string
	Lower   bool     // the lower figure is the better one
	Columns []string // names of the cells
	Figures []Figure
	Extra   []Field
	Bars    []Bar
	// NoTable marks a case whose figures stand in the table of another.
	NoTable bool
}

// figure returns the first figure of a kind.
func (r Result) figure(k Kind) (Figure, bool) {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Kind == k })
	if i < 0 {
		return Figure{}, false
	}
	return r.Figures[i], true
}

// named returns the figure with a name.
func (r Result) named(name string) (Figure, bool) {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, false
	}
	return r.Figures[i], true
}

// better reports whether a is better than b.
func (r Result) better(a, b float64) bool {
	if r.Lower {
		return a < b
	}
	return a > b
}

// best returns the best figure of the peers that count.
func (r Result) best() (best Figure, found bool) {
	for _, f := range r.Figures {
		if f.Kind == Peer && f.Counts && (!found || r.better(f.Value, best.Value)) {
			best, found = f, true
		}
	}
	return best, found
}

// Line is the case in one line for scripts. A dash stands for what there is
// not.
func (r Result) Line() string {
	our, hasOur := r.figure(Ours)
	floor, hasFloor := r.figure(Floor)
	best, hasBest := r.best()
	name := "-"
	if hasBest {
		name = strings.ReplaceAll(best.Name, " ", "_")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "case=%s ours=%s floor=%s best_peer=%s best=%s ours/floor=%s ours/best=%s",
		r.Case, number(our.Value, hasOur), number(floor.Value, hasFloor), name, number(best.Value, hasBest),
		frame.Ratio(our.Value, floor.Value, hasOur && hasFloor), frame.Ratio(our.Value, best.Value, hasBest && hasOur))
	for _, f := range r.Extra {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
	}
	return b.String()
}

// Table writes the case as a Markdown table, the best figure first.
func (r Result) Table(w io.Writer) {
	our, hasOur := r.figure(Ours)
	fmt.Fprintf(w, "### %s: %s\n\n| | %s | × ours |", r.Case, r.Title, r.Unit)
	for _, c := range r.Columns {
		fmt.Fprintf(w, " %s |", c)
	}
	fmt.Fprintf(w, " |\n|---|---:|---:|%s---|\n", strings.Repeat("---:|", len(r.Columns)))
	rows := slices.Clone(r.Figures)
	slices.SortStableFunc(rows, func(a, b Figure) int {
		if r.Lower {
			a, b = b, a
		}
		return cmp.Compare(b.Value, a.Value)
	})
	for _, f := range rows {
		name := f.Name
		if f.Kind == Ours {
			name = "**" + name + "**"
		}
		fmt.Fprintf(w, "| %s | %s | %s |", name, number(f.Value, true), frame.Ratio(f.Value, our.Value, hasOur))
		for _, c := range f.Cells {
			fmt.Fprintf(w, " %s |", c)
		}
		fmt.Fprintf(w, " %s |\n", f.Note)
	}
	for _, f := range r.Extra {
		fmt.Fprintf(w, "\n%s: %s  ", f.Name, f.Value)
	}
	fmt.Fprint(w, "\n\n")
}

// writeLosses lists where somebody else is better, or a mark is missed.
func writeLosses(w io.Writer, rs []Result) {
	fmt.Fprint(w, "\n### Where we lose\n\n")
	none := true
	for _, r := range rs {
		if ahead := r.ahead(); len(ahead) > 0 {
			our, _ := r.figure(Ours)
			fmt.Fprintf(w, "- %s: we reach %s %s; %s\n", r.Case, number(our.Value, true), r.Unit, strings.Join(ahead, ", "))
			none = false
		}
		for _, b := range r.Bars {
			if !b.Holds() {
				fmt.Fprintf(w, "- %s: mark missed: %s\n", r.Case, b)
				none = false
			}
		}
	}
	if none {
		fmt.Fprint(w, "Nowhere in the cases that ran.\n")
	}
}

// ahead lists the peers that are better than we are.
func (r Result) ahead() []string {
	our, ok := r.figure(Ours)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range r.Figures {
		if f.Kind != Peer && f.Kind != Tuned || !r.better(f.Value, our.Value) {
			continue
		}
		text := fmt.Sprintf("%s %s", f.Name, number(f.Value, true))
		if !f.Counts {
			text += " (does not count)"
		}
		out = append(out, text)
	}
	return out
}

// number prints a figure with as many digits as it deserves.
func number(v float64, ok bool) string {
	switch {
	case !ok:
		return "-"
	case v == float64(int64(v)), v >= 1000, v <= -1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
