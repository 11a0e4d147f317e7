package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/api"
)

func newTop(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch rules, rates and the busiest keys of a server",
		Long:  "Top shows every second what each rule does and which keys are busiest, until Ctrl-C.\nWith --once it prints one view and ends; with --json each view is a line.",
		Example: `  sluice top
  sluice top --every 5s
  sluice top --once --json | jq '.top.keys[0]'`,
		Args: cobra.NoArgs,
	}
	server := serverFlags(c, t)
	asJSON := jsonFlag(c)
	once := c.Flags().Bool("once", false, "print one view and end")
	every := c.Flags().Duration("every", time.Second, "how often")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *every < 100*time.Millisecond {
			return usage(fmt.Errorf("--every %v is too often: 100ms or more", *every))
		}
		v := view{server: server, out: c.OutOrStdout(), json: *asJSON}
		if !*once && !*asJSON {
			v.screen = screenOf(v.out)
		}
		if err := v.show(c.Context()); err != nil || *once {
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
	json   bool    // a view is a line of JSON
	screen *screen // nil if out is a file or a pipe: views follow each other
	shown  int     // how many views there were
	before api.Stats
	at     time.Time
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
			if err := v.show(ctx); err != nil && ctx.Err() == nil {
				if err := v.write(fmt.Sprintf("%v\ntrying again\n", err)); err != nil {
					return err
				}
			}
		}
	}
}

// topReport is a line of top --json.
type topReport struct {
	Stats api.Stats `json:"stats"`
	Top   api.Top   `json:"top"`
}

// show asks the server and shows what it says.
func (v *view) show(ctx context.Context) error {
	var r topReport
	if err := v.server.ask(ctx, "GET", "/v1/stats", nil, &r.Stats); err != nil {
		return err
	}
	if err := v.server.ask(ctx, "GET", "/v1/top", nil, &r.Top); err != nil {
		return err
	}
	if v.json {
		return json.NewEncoder(v.out).Encode(r)
	}
	text := v.text(&r)
	v.before, v.at = r.Stats, time.Now()
	return v.write(text)
}

// write puts a view in the place of the one before it, or below it.
func (v *view) write(text string) (err error) {
	switch {
	case v.screen != nil:
		err = v.screen.draw(text)
	case v.shown > 0:
		_, err = io.WriteString(v.out, "\n"+text)
	default:
		_, err = io.WriteString(v.out, text)
	}
	v.shown++
	return err
}

// text is the view for people.
func (v *view) text(r *topReport) string {
	var b strings.Builder
	stats, seconds := &r.Stats, time.Since(v.at).Seconds()
	if stats.ShadowAll {
		b.WriteString("EVERY RULE IS SHADOW: nobody is refused. End it with: sluice shadow-all off\n\n")
	}
	fmt.Fprintf(&b, "%d requests, %d refused, %d without a rule\n\n", stats.Requests, stats.Denied, stats.NoRule)
	rows := [][]string{{"RULE", "REQUESTS/S", "REFUSED/S", "REQUESTS", "REFUSED", "SHADOW", "CANDIDATE"}}
	known := map[string]api.RuleStats{}
	for _, r := range v.before.Rules {
		known[r.Rule] = r
	}
	total := api.RuleStats{Rule: "(all)", Requests: stats.Requests, Denied: stats.Denied, ShadowDenied: stats.Shadow}
	known[total.Rule] = api.RuleStats{Requests: v.before.Requests, Denied: v.before.Denied}
	for _, r := range append(slices.Clone(stats.Rules), total) {
		was := known[r.Rule]
		rows = append(rows, []string{
			r.Rule, v.rate(was.Requests, r.Requests, seconds), v.rate(was.Denied, r.Denied, seconds),
			count(r.Requests), count(r.Denied), count(r.ShadowDenied), count(r.CandidateDenied),
		})
	}
	columns(&b, rows)
	b.WriteString("\n")
	rows = [][]string{{"BUSIEST KEYS", "RULE", "REQUESTS"}}
	for _, k := range r.Top.Keys {
		rows = append(rows, []string{k.Key, k.Rule, count(k.Count)})
	}
	columns(&b, rows)
	return b.String()
}

// rate is how many there were per second since the view before. A server that began anew
// counts from 0.
func (v *view) rate(was, is int64, seconds float64) string {
	switch {
	case v.at.IsZero() || seconds <= 0:
		return "-"
	case is < was:
		was = 0
	}
	return fmt.Sprintf("%.0f", float64(is-was)/seconds)
}
