package local

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Figure is what one contestant reached in one case.
type Figure struct {
	Name  string    `json:"name"`
	Kind  Kind      `json:"kind"`
	Value float64   `json:"value"`
	Exact bool      `json:"exact"`
	Note  string    `json:"note,omitempty"`
	Spans []float64 `json:"rounds,omitempty"`
}

// Field is a further number or word of a case.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Result is the outcome of one case.
type Result struct {
	Case    string   `json:"case"`
	Title   string   `json:"title"`
	Unit    string   `json:"unit"`
	Figures []Figure `json:"figures"`
	Extra   []Field  `json:"extra,omitempty"`
}

// figure returns the first figure of a kind.
func (r Result) figure(k Kind) (Figure, bool) {
	for _, f := range r.Figures {
		if f.Kind == k {
			return f, true
		}
	}
	return Figure{}, false
}

// best returns the lowest figure of the exact peers.
func (r Result) best() (best Figure, found bool) {
	for _, f := range r.Figures {
		if f.Kind == Peer && f.Exact && (!found || f.Value < best.Value) {
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
	fmt.Fprintf(&b, "case=%s ours=%s floor=%s best_exact_peer=%s best=%s ours/floor=%s best/ours=%s",
		r.Case, number(our.Value, hasOur), number(floor.Value, hasFloor), name, number(best.Value, hasBest),
		frame.Ratio(our.Value, floor.Value, hasOur && hasFloor), frame.Ratio(best.Value, our.Value, hasBest && hasOur))
	for _, f := range r.Extra {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
	}
	return b.String()
}

// Table writes the case as a Markdown table, the lowest figure first.
func (r Result) Table(w io.Writer) {
	our, hasOur := r.figure(Ours)
	floor, hasFloor := r.figure(Floor)
	fmt.Fprintf(w, "### %s: %s\n\n| | %s | × ours | × floor | exact | |\n|---|---:|---:|---:|---|---|\n", r.Case, r.Title, r.Unit)
	rows := slices.Clone(r.Figures)
	slices.SortStableFunc(rows, func(a, b Figure) int { return compare(a.Value, b.Value) })
	for _, f := range rows {
		name, exact := f.Name, "no"
		if f.Kind == Ours {
			name = "**" + name + "**"
		}
		if f.Exact {
			exact = "yes"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", name, number(f.Value, true),
			frame.Ratio(f.Value, our.Value, hasOur), frame.Ratio(f.Value, floor.Value, hasFloor), exact, f.Note)
	}
	for _, f := range r.Extra {
		fmt.Fprintf(w, "\n%s: %s  ", f.Name, f.Value)
	}
	fmt.Fprintln(w)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// number prints a figure with as many digits as it deserves.
func number(v float64, ok bool) string {
	switch {
	case !ok:
		return "-"
	case v == float64(int64(v)):
		return strconv.FormatInt(int64(v), 10)
	case v < 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func roundLabel(i, n int) string { return fmt.Sprintf("round %d of %d", i, n) }
