package cli

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-limiter/sluice/probe"
)

// probeFound is what is known of one target.
type probeFound struct {
	Target   string      `json:"target"`
	Capacity float64     `json:"capacity"`       // requests per second; 0 if it is not known
	Low      float64     `json:"low"`            // of its range
	High     float64     `json:"high,omitempty"` // of its range; not there if every rate held
	Requests int64       `json:"requests"`
	Stopped  string      `json:"stopped,omitempty"` // why it ended early
	Curve    []probeStep `json:"curve"`
}

// probeStep is what happened at one rate.
type probeStep struct {
	Rate   float64 `json:"rate"`
	Sent   int     `json:"sent"`
	Failed int     `json:"failed"`
	P50    float64 `json:"p50_ms"`
	P90    float64 `json:"p90_ms"`
	P99    float64 `json:"p99_ms"`
	AtGoal float64 `json:"goal_ms"` // at the quantile of the goal
	Held   bool    `json:"held"`
	Why    string  `json:"why,omitempty"`
}

func foundOf(name string, r *probe.Report) probeFound {
	f := probeFound{Target: name, Capacity: tidy(r.Capacity), Low: tidy(r.Low), Requests: r.Calls, Stopped: r.Stopped}
	if !math.IsInf(r.High, 1) {
		f.High = tidy(r.High)
	}
	for _, s := range r.Curve() {
		f.Curve = append(f.Curve, probeStep{tidy(s.Rate), s.Sent, s.Failed + s.Dropped, inMS(s.P50), inMS(s.P90), inMS(s.P99), inMS(s.AtGoal), s.Held, s.Why})
	}
	return f
}

// tidy leaves the digits of a rate that mean something.
func tidy(rate float64) float64 {
	if rate >= 100 {
		return math.Round(rate)
	}
	return math.Round(rate*100) / 100
}

func inMS(d time.Duration) float64 { return float64(d.Round(10*time.Microsecond)) / 1e6 }

// known is the capacity, or the rate of which at least it is known that it holds.
func (f *probeFound) known() float64 {
	if f.Capacity > 0 {
		return f.Capacity
	}
	return f.Low
}

// amount tells the capacity.
func (f *probeFound) amount() string {
	switch {
	case f.Capacity > 0 && f.High > 0:
		return fmt.Sprintf("%g/s (%g to %g)", f.Capacity, f.Low, f.High)
	case f.Low > 0 && f.High > 0:
		return fmt.Sprintf("between %g/s and %g/s", f.Low, f.High)
	case f.Low > 0:
		return fmt.Sprintf("at least %g/s", f.Low)
	case f.High > 0:
		return fmt.Sprintf("below %g/s", f.High)
	}
	return "not known"
}

func goalText(g probe.Goal) string {
	return fmt.Sprintf("p%g within %v and at most %g %% errors", 100*g.Quantile, g.Latency, 100*g.Errors)
}

// writeText writes the result for a terminal.
func (r *probeResult) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	if r.Interrupted {
		fmt.Fprintln(out, "Interrupted: this is what is known so far.")
	}
	fmt.Fprintf(out, "goal: %s\n", r.Goal)
	for i := range r.Targets {
		r.textTarget(out, &r.Targets[i])
	}
	if r.Together != nil {
		r.textTarget(out, r.Together)
		r.textShared(out)
	}
	if r.Replicas > 0 {
		fmt.Fprintf(out, "\na peak of %g/s needs %d instances like this, at %g of their capacity\n", r.Peak, r.Replicas, r.Margin)
	}
	if r.Rule != "" {
		fmt.Fprintf(out, "\nthe rule to write:\n\n%s", r.Rule)
	}
	return out.Flush()
}

func (r *probeResult) textTarget(w io.Writer, f *probeFound) {
	fmt.Fprintf(w, "\n%s\n  capacity: %s, by %d requests\n", f.Target, f.amount(), f.Requests)
	if f.Stopped != "" {
		fmt.Fprintf(w, "  ended early: %s\n", f.Stopped)
	}
	if len(f.Curve) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "  rate\tp50\tp90\tp99\tfailed\t  p%g, ┊ is %v\n", 100*r.goal.Quantile, r.goal.Latency)
	for _, s := range f.Curve {
		fmt.Fprintf(t, "  %g/s\t%s\t%s\t%s\t%d\t  %s\n", s.Rate, msText(s.P50), msText(s.P90), msText(s.P99), s.Failed, r.bar(&s))
	}
	_ = t.Flush() // the writer below tells at the end
}

// bar draws the latency of a step; the goal stands in the middle.
func (r *probeResult) bar(s *probeStep) string {
	const middle = 20
	length := int(math.Round(middle * s.AtGoal / (float64(r.goal.Latency) / 1e6)))
	length = min(max(length, 1), 2*middle)
	row := []rune(strings.Repeat("█", length) + strings.Repeat(" ", 2*middle-length))
	if length <= middle {
		row[middle] = '┊'
	}
	text := string(row)
	if !s.Held {
		return text + " broke: " + s.Why
	}
	return strings.TrimRight(text, " ")
}

func msText(ms float64) string {
	return time.Duration(ms * 1e6).Round(10 * time.Microsecond).String()
}

// textShared tells whether the targets have something in common that is the bottleneck.
func (r *probeResult) textShared(w io.Writer) {
	sum := 0.0
	for i := range r.Targets {
		sum += r.Targets[i].known()
	}
	switch share := r.Together.known() / sum; {
	case !(share > 0) || r.Together.Capacity == 0:
	case share < 0.9:
		fmt.Fprintf(w, "  together they take %.0f %% of what they take one by one: they share something, more instances may not help\n", 100*share)
	default:
		fmt.Fprintf(w, "  together they take what they take one by one (%.0f %%)\n", 100*share)
	}
}
