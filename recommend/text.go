package recommend

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-limiter/sluice/replay"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	r.textTraffic(out)
	r.Labels.text(out, r.per())
	r.textFits(out)
	for i := range r.Fits {
		r.Fits[i].text(out, i == 0)
	}
	return out.Flush()
}

func (r *Report) textTraffic(w io.Writer) {
	l := &r.Lines
	if l.Total > 0 {
		fmt.Fprintf(w, "%s lines: %s parsed, %s rejected\n", thousands(l.Total), thousands(l.Parsed), thousands(l.Rejected))
		for _, why := range l.Reasons {
			fmt.Fprintf(w, "  %s × %s, such as in %s:\n    %s\n", thousands(why.Count), why.Reason, why.File, why.Sample)
		}
	}
	fmt.Fprintf(w, "%s requests of %s keys (%s) in %.1f days", thousands(r.Requests), thousands(r.Keys), strings.Join(r.Key, "+"), r.Days)
	if r.Unmatched > 0 {
		fmt.Fprintf(w, "; %s others are not what the rule is for", thousands(r.Unmatched))
	}
	fmt.Fprintf(w, "\nlimits are fitted to the time until %s, and checked on the rest (seed %d)\n", date(r.Split), r.Seed)
	fmt.Fprintf(w, "target: refuse at most %s of the requests and %s of the keys of those who count\n", percent(r.Target.Requests), percent(r.Target.Keys))
}

func (t *LabelReport) text(w io.Writer, per string) {
	if t.Group > 0 {
		fmt.Fprintf(w, "\nTWO GROUPS: %s keys have more than %s in 1 %s, and hardly any others come near. They are so many that they count, and they decide the limit.\n", thousands(t.Group), thousands(t.Apart), per)
		fmt.Fprintln(w, "  If they are not welcome, label them bad; if they are, give them a rule of their own: one limit for both is none for the others.")
	}
	if t.Keys == 0 {
		fmt.Fprintln(w, "\nEverybody counts: no key looks like an attacker.")
		return
	}
	fmt.Fprintf(w, "\n%s keys with %s requests do not count: refusing them is no mistake. If it is, label them good.\n", thousands(t.Keys), thousands(t.Requests))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  key\trequests\tmost in 1 %s\twhy\tagent\n", per)
	for _, k := range t.Top {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", printable(k.Key, 40), thousands(k.Requests), thousands(k.Peak), printable(k.Why, 70), printable(cmp.Or(k.Agent, "-"), 40))
	}
	_ = table.Flush() // out tells the error
	if more := t.Keys - int64(len(t.Top)); more > 0 {
		fmt.Fprintf(w, "  … and %s that are less busy\n", thousands(more))
	}
}

// textFits is the table of what is recommended.
func (r *Report) textFits(w io.Writer) {
	fmt.Fprintln(w, "\nRecommended for each key:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  limit\tmost in 1 %s\trefused at most (95 %%)\trefused in the check\tthat is\n", r.per())
	for i := range r.Fits {
		f := &r.Fits[i]
		says := "within the bound"
		if !f.Inside {
			says = "ABOVE THE BOUND"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s requests, %s keys\t%s requests, %s keys\t%s\n", f.Limit, thousands(f.Most),
			percent(f.Bound.Requests), percent(f.Bound.Keys), percent(f.Checked.Rates.Requests), percent(f.Checked.Rates.Keys), says)
	}
	_ = table.Flush()
	for i := range r.Fits {
		if !r.Fits[i].Inside {
			fmt.Fprintln(w, "  Above the bound: traffic has changed in the last part of the time. Look at who would be refused before you enforce it.")
			break
		}
	}
	for _, other := range r.Without {
		fmt.Fprintf(w, "  %s has no such number: %s.\n", other.Algorithm, other.Why)
	}
	for i := range r.Fits {
		if !r.Fits[i].Promised {
			fmt.Fprintln(w, "  Where a bound is above the target, nothing smaller was seen to be needed, but so few keys cannot promise more: a longer log narrows it.")
			break
		}
	}
}

// text tells the details of one algorithm; only the first has a chart.
func (f *Fit) text(w io.Writer, chart bool) {
	fmt.Fprintf(w, "\n%s\n", f.Limit)
	for _, part := range []struct {
		name string
		o    *Outcome
	}{{"fitted", &f.Fitted}, {"checked", &f.Checked}} {
		o := part.o
		fmt.Fprintf(w, "  %-8s %s of %s requests refused, of %s of %s keys; of those that do not count %s of %s\n", part.name,
			thousands(o.Denied), thousands(o.Requests), thousands(o.KeysDenied), thousands(o.Keys), thousands(o.BadDenied), thousands(o.BadRequests))
	}
	fmt.Fprintf(w, "  %-8s %s would have been enough in the check\n", "smallest", f.Smallest)
	if chart {
		f.Held.text(w)
		f.textFront(w)
	}
}

// text names who holds the limit up.
func (h *Held) text(w io.Writer) {
	if h.Keys == 0 {
		return
	}
	fmt.Fprintf(w, "\n  half of it, %s, would do for all but %s keys: if one of these is not welcome, label it bad and ask again\n", h.Half, thousands(h.Keys))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range h.Top {
		fmt.Fprintf(table, "  %s\t%s requests\t%s at most\t%s\n", printable(k.Key, 40), thousands(k.Requests), thousands(k.Peak), printable(cmp.Or(k.Agent, "-"), 60))
	}
	_ = table.Flush()
	if more := h.Keys - int64(len(h.Top)); more > 0 {
		fmt.Fprintf(w, "  … and %s that are less busy\n", thousands(more))
	}
}

// textFront draws what smaller and larger limits would refuse.
func (f *Fit) textFront(w io.Writer) {
	fmt.Fprintln(w, "\n  what other sizes refuse, of those who count (the bars are logarithmic)")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  limit\tkeys\t\trequests\tof those that do not count")
	for _, p := range f.Front {
		mark := " "
		if p.Recommended {
			mark = "→"
		}
		fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\t%s\n", mark, p.Limit, percent(p.Rates.Keys), bar(p.Rates.Keys), percent(p.Rates.Requests), percent(p.BadDenied))
	}
	_ = table.Flush()
}

// barWidth is that of 100 %; from 0.001 % on there is something to see.
const barWidth = 30

func bar(share float64) string {
	if share <= 0 {
		return "·"
	}
	n := barWidth * (5 + math.Log10(share)) / 5
	return strings.Repeat("█", max(int(math.Round(n)), 1))
}

// per names the period.
func (r *Report) per() string {
	switch d := time.Duration(r.Period); d {
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "h"
	default:
		return d.String()
	}
}

// percent writes a share with two digits that matter.
func percent(share float64) string {
	if share == 0 {
		return "0 %"
	}
	digits := max(1-int(math.Floor(math.Log10(100*share))), 0)
	text := strconv.FormatFloat(100*share, 'f', min(digits, 6), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

func date(t replay.Instant) string { return t.Format("2006-01-02 15:04") }

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// printable cuts a text from a log to a length, and lets no terminal obey it.
func printable(text string, most int) string {
	quoted := strconv.QuoteToGraphic(text)
	runes := []rune(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
