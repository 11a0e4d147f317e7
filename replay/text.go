package replay

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	r.textLines(out)
	if r.Requests > 0 {
		r.textTotals(out)
	}
	for i := range r.Rules {
		r.Rules[i].text(out)
	}
	if r.Comparison != nil {
		r.Comparison.text(out)
	}
	if r.Live != nil {
		r.Live.text(out)
	}
	return out.Flush()
}

func (r *Report) textLines(w io.Writer) {
	if r.Interrupted {
		fmt.Fprintln(w, "Interrupted: this is about what was read until then.")
	}
	l := &r.Lines
	fmt.Fprintf(w, "%s lines: %s parsed, %s rejected", thousands(l.Total), thousands(l.Parsed), thousands(l.Rejected))
	if len(l.Formats) > 0 {
		fmt.Fprintf(w, " (%s)", strings.Join(l.Formats, ", "))
	}
	fmt.Fprintln(w)
	for _, why := range l.Reasons {
		fmt.Fprintf(w, "  %s × %s, such as in %s\n", thousands(why.Count), why.Reason, why.File)
		if why.Sample != "" {
			fmt.Fprintf(w, "    %s\n", why.Sample)
		}
	}
	if l.Late > 0 {
		fmt.Fprintf(w, "  %s lines came up to %v later than the window that is sorted, and were decided so: --sort puts them in order\n", thousands(l.Late), l.Latest)
	}
}

func (r *Report) textTotals(w io.Writer) {
	fmt.Fprintf(w, "%s requests from %s to %s (UTC, as all times here): %s\n", thousands(r.Requests), date(r.From), date(r.To), share(r.Denied, r.Requests, "refused"))
	for _, more := range []struct {
		n    int64
		what string
	}{
		{r.Shadow, "would be refused by a rule in shadow"},
		{r.Waited, "let through after a wait"},
		{r.NoRule, "matched by no rule" + r.whyNone()},
		{r.Errors, "could not be decided: " + r.Error},
	} {
		if more.n > 0 {
			fmt.Fprintf(w, "  %s %s\n", thousands(more.n), more.what)
		}
	}
	r.textSpread(w)
	parts := make([]string, len(r.Peaks))
	for i, p := range r.Peaks {
		parts[i] = fmt.Sprintf("%s in %v (%s)", thousands(p.Requests), short(p.Over), date(p.At))
	}
	fmt.Fprintf(w, "busiest: %s\n", strings.Join(parts, ", "))
	fmt.Fprintf(w, "memory: up to %s for the budgets of %s keys at once\n", bytesText(r.Memory.Bytes), thousands(r.Memory.Keys))
	if r.Memory.Forgotten > 0 {
		fmt.Fprintf(w, "  %s keys were forgotten for lack of memory: figures are too low\n", thousands(r.Memory.Forgotten))
	}
}

// whyNone helps when not one request was decided.
func (r *Report) whyNone() string {
	if r.NoRule < r.Requests {
		return ""
	}
	return ": look whether the log tells what the keys of the rules are made of"
}

// textSpread tells how much depends on what the log does not tell.
func (r *Report) textSpread(w io.Writer) {
	s := &r.Spread
	if s.Coarse == 0 {
		return
	}
	fmt.Fprintf(w, "%s requests are known to the second only, and put at its %s", thousands(s.Coarse), spreadText(s.Model))
	if len(s.Denied) == 0 {
		fmt.Fprintln(w)
		return
	}
	parts := make([]string, 0, len(Spreads))
	for _, model := range Spreads {
		parts = append(parts, fmt.Sprintf("%s %s", model, thousands(s.Denied[model])))
	}
	fmt.Fprintf(w, ";\n  refused of the first %s by each way: %s\n", thousands(s.Over), strings.Join(parts, ", "))
}

func spreadText(s Spread) string {
	switch s {
	case SpreadUniform:
		return "instants at equal distances"
	case SpreadRandom:
		return "instants at random"
	}
	return "start"
}

func (r *Rule) text(w io.Writer) {
	fmt.Fprintf(w, "\nrule %s: %s", r.Name, strings.Join(r.Limits, ", "))
	if len(r.Key) > 0 {
		fmt.Fprintf(w, " for each %s", strings.Join(r.Key, " and "))
	}
	if r.Mode != "enforce" {
		fmt.Fprintf(w, " (%s)", r.Mode)
	}
	fmt.Fprintf(w, "\n  %s requests, %s; %s keys, %s\n", thousands(r.Requests), share(r.Denied, r.Requests, "refused"),
		thousands(r.Keys), share(r.KeysDenied, r.Keys, "refused at least once"))
	if r.Candidate > 0 {
		fmt.Fprintf(w, "  %s by its candidate\n", share(r.Candidate, r.Requests, "refused"))
	}
	r.textChart(w)
	if r.Keys > 0 {
		r.textPeaks(w)
	}
	if r.Denied == 0 {
		return
	}
	fmt.Fprintf(w, "  first refusal %s, last %s; worst minutes:", date(r.First), date(r.Last))
	for _, m := range r.Worst {
		fmt.Fprintf(w, " %s of %s at %s;", thousands(m.Denied), thousands(m.Requests), date(m.At))
	}
	fmt.Fprintf(w, "\n  candidates for false kills: %s keys that do not say they are robots, or are logged in, with %s refused requests\n", thousands(r.Suspects.Keys), thousands(r.Suspects.Requests))
	if r.Longest != nil {
		fmt.Fprintf(w, "  the longest that one of them got nothing but refusals: %v from %s (%s)\n", r.Longest.For, date(r.Longest.From), printable(r.Longest.Key))
	}
	textKeys(w, "refused most", r.Denials)
	if len(r.Suspects.Top) > 0 && r.Suspects.Keys < r.KeysDenied {
		textKeys(w, "of those, candidates for false kills", r.Suspects.Top)
	}
}

func (r *Rule) textPeaks(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "  busiest moment of a key\tp50\tp90\tp95\tp99\tp99.9\tp99.99\tmax\t\n")
	for _, p := range r.KeyPeaks {
		fmt.Fprintf(t, "  requests in %v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", short(p.Over), p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max)
	}
	_ = t.Flush() // the writer below tells at the end
}

func textKeys(w io.Writer, title string, keys []DeniedKey) {
	fmt.Fprintf(w, "  %s:\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    KEY\tREQUESTS\tREFUSED\tPEAK/m\tLONGEST\tLIMIT\tAGENT")
	for _, k := range keys {
		agent := cut(printable(k.Agent), 60)
		fmt.Fprintf(t, "    %s\t%d\t%d\t%d\t%v\t%s\t%s\n", printable(k.Key), k.Requests, k.Denied, k.Peak, time.Duration(k.Longest).Round(time.Second), k.Limit, cmp.Or(agent, "-"))
	}
	_ = t.Flush()
}

func (c *Comparison) text(w io.Writer) {
	fmt.Fprintf(w, "\nthe other rules refuse %s requests: %s of %s keys newly, %s of %s keys no longer\n", thousands(c.Denied),
		thousands(c.NewlyAll.Requests), thousands(c.NewlyAll.Keys), thousands(c.GoneAll.Requests), thousands(c.GoneAll.Keys))
	for _, part := range []struct {
		title string
		list  []Change
	}{{"newly refused", c.Newly}, {"no longer refused", c.NoLonger}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(w, "  %s:\n", part.title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "    KEY\tREQUESTS\tRULE\tLOOKS GOOD")
		for _, k := range part.list {
			fmt.Fprintf(t, "    %s\t%d\t%s\t%s\n", printable(k.Key), k.Requests, k.Rule, yes(k.Good))
		}
		_ = t.Flush()
	}
}

func (l *Live) text(w io.Writer) {
	fmt.Fprintf(w, "\nsent to %s at %g times the speed: %s sent, %s allowed, %s refused, %s failed, %s not sent\n",
		l.Target, l.Speed, thousands(l.Sent), thousands(l.Allowed), thousands(l.Denied), thousands(l.Failed), thousands(l.Dropped))
	fmt.Fprintf(w, "  predicted: %s refused; %s; refused only there %s, only by prediction %s; sent at most %v late\n",
		thousands(l.Predicted), share(l.Equal, l.Allowed+l.Denied, "as predicted"), thousands(l.OnlyLive), thousands(l.OnlyHere), time.Duration(l.MaxLag).Round(time.Millisecond))
	if both := 2 * min(l.OnlyLive, l.OnlyHere); both > 0 {
		fmt.Fprintf(w, "  up to %s of these may be requests of one key that overtook each other on the way: compare the sums, or send slower\n", thousands(both))
	}
	if l.OnlyLive > l.OnlyHere {
		fmt.Fprintln(w, "  the prediction begins with fresh budgets: a target that has seen these clients before refuses more")
	}
	if l.Error != "" {
		fmt.Fprintf(w, "  the first failure: %s\n", l.Error)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// textChart draws requests and refusals over the time.
func (r *Rule) textChart(w io.Writer) {
	const width = 72
	requests, denied := squeeze(r.Timeline.Requests, width), squeeze(r.Timeline.Denied, width)
	if len(requests) < 2 {
		return
	}
	most := slices.Max(requests)
	step := time.Duration(r.Timeline.Step) * time.Duration((len(r.Timeline.Requests)+len(requests)-1)/len(requests))
	fmt.Fprintf(w, "  requests  %s up to %s in %s\n", bars(requests, most), thousands(most), short(Seconds(step)))
	if worst := slices.Max(denied); worst > 0 {
		fmt.Fprintf(w, "  refused   %s up to %s\n", bars(denied, worst), thousands(worst))
	}
}
