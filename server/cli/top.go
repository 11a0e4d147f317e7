package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/api"
)

func newTop(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch rules, rates and the busiest keys of a server",
		Long:  "Top shows every second what each rule does and which keys are busiest, until Ctrl-C.\nWith --once it prints one view and ends.",
		Args:  cobra.NoArgs,
	}
	server := serverFlags(c, t)
	once := c.Flags().Bool("once", false, "print one view and end")
	every := c.Flags().Duration("every", time.Second, "how often")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *every < 100*time.Millisecond {
			return usage(fmt.Errorf("--every %v is too often: 100ms or more", *every))
		}
		v := view{server: server, out: c.OutOrStdout(), screen: isTerminal(c.OutOrStdout())}
		if err := v.show(c.Context(), false); err != nil || *once {
			return err
		}
		return v.run(c.Context(), *every)
	}
	return c
}

// view shows what a server does, and how it changes.
type view struct {
	server *remote
	out    io.Writer
	screen bool // out is one: a view replaces the one before it
	before api.Stats
	at     time.Time
}

// isTerminal reports whether somebody looks at a screen, rather than a file or a pipe.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// run shows the view again and again. A server that does not answer, such as while it is
// started anew, is told of and asked again.
func (v *view) run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := v.show(ctx, true); err != nil && ctx.Err() == nil {
				v.next()
				fmt.Fprintf(v.out, "%v\ntrying again\n", err)
			}
		}
	}
}

// next makes place for another view.
func (v *view) next() {
	if v.screen {
		fmt.Fprint(v.out, "\x1b[H\x1b[2J") // home, and clear
		return
	}
	fmt.Fprintln(v.out)
}

// show prints the view, after or over the one before it if again is true.
func (v *view) show(ctx context.Context, again bool) error {
	var stats api.Stats
	var top api.Top
	if err := v.server.ask(ctx, "GET", "/v1/stats", nil, &stats); err != nil {
		return err
	}
	if err := v.server.ask(ctx, "GET", "/v1/top", nil, &top); err != nil {
		return err
	}
	if again {
		v.next()
	}
	seconds := time.Since(v.at).Seconds()
	fmt.Fprintf(v.out, "%s requests, %s refused, %s without a rule\n\n", count(stats.Requests), count(stats.Denied), count(stats.NoRule))
	rows := [][]string{{"RULE", "PER SECOND", "REQUESTS", "REFUSED", "SHADOW", "CANDIDATE"}}
	for i, r := range stats.Rules {
		rows = append(rows, []string{r.Rule, v.rate(i, r, seconds), count(r.Requests), count(r.Denied), count(r.ShadowDenied), count(r.CandidateDenied)})
	}
	columns(v.out, rows)
	fmt.Fprintln(v.out)
	rows = [][]string{{"BUSIEST KEYS", "RULE", "REQUESTS"}}
	for _, k := range top.Keys {
		rows = append(rows, []string{k.Key, k.Rule, count(k.Count)})
	}
	columns(v.out, rows)
	v.before, v.at = stats, time.Now()
	return nil
}

// rate is how many requests of rule i came per second since the view before.
func (v *view) rate(i int, r api.RuleStats, seconds float64) string {
	if i >= len(v.before.Rules) || v.before.Rules[i].Rule != r.Rule || seconds <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(r.Requests-v.before.Rules[i].Requests)/seconds)
}
