package compare

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// WriteText writes the report for a terminal: a row of bars and a row of figures for each
// limit.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s\n%d requests", r.Traffic, r.About, r.Requests)
	if r.Keys > 1 {
		fmt.Fprintf(out, " of %d clients", r.Keys)
	}
	fmt.Fprintf(out, " in %s", brief(time.Duration(r.Length)))
	if r.Cut {
		fmt.Fprint(out, ", the first of a longer log")
	}
	fmt.Fprint(out, "\n\n")
	r.textBars(out)
	fmt.Fprintln(out)
	r.textTable(out)
	fmt.Fprint(out, legend)
	return out.Flush()
}

const legend = `
IN ANY PERIOD  the most that went ahead within any period, wherever it begins; ! is above the limit
UNEVENNESS     deviation by mean of what goes ahead per tenth of a period: 0 is perfectly smooth
BURST          the most that went ahead within a tenth of a period
FALSE DENIALS  an exact log with the same history would have admitted them
`

// levels are characters that are more and more full.
var levels = []rune("▁▂▃▄▅▆▇█")

func (r *Report) textBars(w io.Writer) {
	const width = 60
	offered := squeeze(r.Offered, width)
	most := slices.Max(offered)
	fmt.Fprintf(w, "%-15s %s up to %d in %v\n", "offered", bars(offered, most), most, brief(time.Duration(r.Length)/time.Duration(len(offered))))
	for i := range r.Results {
		x := &r.Results[i]
		fmt.Fprintf(w, "%-15s %s %d admitted by %s\n", x.Algorithm, bars(squeeze(x.Yes, width), most), x.Admitted, optionsOf(x.Limit))
	}
}

// bars draws numbers, of which the greatest is most.
func bars(numbers []int64, most int64) string {
	text := make([]rune, len(numbers))
	for i, n := range numbers {
		text[i] = ' '
		if n > 0 {
			text[i] = levels[int((min(n, most)*int64(len(levels)-1)+most/2)/most)]
		}
	}
	return string(text)
}

// squeeze adds neighbours up until there are no more than width.
func squeeze(numbers []int64, width int) []int64 {
	per := max((len(numbers)+width-1)/width, 1)
	sums := make([]int64, (len(numbers)+per-1)/per)
	for i, n := range numbers {
		sums[i/per] += n
	}
	return sums
}

func (r *Report) textTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ALGORITHM\tDENIED\tWAITED\tIN ANY PERIOD\tUNEVENNESS\tBURST\tFALSE DENIALS\tBYTES/KEY\tIN ANY CASE AT MOST\tA DECISION TAKES")
	for i := range r.Results {
		x := &r.Results[i]
		mark := ""
		if x.Exceeded > 0 {
			mark = " !"
		}
		speed := x.Performance
		if x.Nanoseconds > 0 {
			speed += fmt.Sprintf(", %.0f ns here", x.Nanoseconds)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d%s\t%.2f\t%d\t%d\t%d\t%s\t%s\n", x.Algorithm, x.Denied, x.Waited, x.WorstPeriod, mark,
			x.Unevenness, x.Burst, x.FalselyDenied, x.Memory, x.Promise, speed)
	}
	_ = t.Flush() // the writer below tells at the end
}
