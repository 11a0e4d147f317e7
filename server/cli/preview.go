package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/server/api"
)

func newPreview(t Terminal) *cobra.Command {
	limit := ""
	c := &cobra.Command{
		Use:   "preview RULE [--limit LIMIT]",
		Short: "Tell what another limit would have done in the last hour",
		Long: `Preview asks a running server what would have happened to the requests that a rule saw in
the last hour if it had another limit. Nothing is changed, and nobody is refused.

The server knows what it decided itself, for as long as its settings record.age and
record.memory let it. Of several instances ask each: keys are hashed by a secret of its
own, so that what they tell cannot be put together.`,
		Example: `  sluice preview login --limit 5/m
  sluice preview api --limit 'sliding_log 600/m' --server http://10.0.0.7:8080`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&limit, "limit", "", "such as 50/s, '100/m burst=20' or 'sliding_log 60/m'; the limits in force if not given")
	prepare := func(args []string) (call, error) {
		if args[0] == "" {
			return call{}, usage(errors.New("no rule: sluice rules list tells their names"))
		}
		path := "/v1/rules/" + strings.ReplaceAll(url.PathEscape(args[0]), "%2F", "/") + "/preview"
		if limit != "" {
			if _, err := sluice.Parse(limit); err != nil {
				return call{}, usage(fmt.Errorf("--limit: %w", err))
			}
			path += "?limit=" + url.QueryEscape(limit)
		}
		return call{method: "GET", path: path}, nil
	}
	return asking(t, c, prepare, printPreview)
}

func printPreview(w io.Writer, p api.Preview) error {
	fmt.Fprintf(w, "rule %s: %d requests of %d keys in %v, of this instance alone\n", p.Rule, p.Requests, p.Keys, p.To.Sub(p.From).Round(time.Second))
	if p.Cut {
		fmt.Fprintf(w, "  known from %s on: the record was full (setting record.memory)\n", p.From.Format(time.RFC3339))
	}
	rows := [][]string{{"", "limit", "requests refused", "keys refused"}}
	row := func(what string, o *api.PreviewOutcome) {
		rows = append(rows, []string{"  " + what, strings.Join(o.Limits, ", "), shareText(o.Denied, p.Requests), shareText(o.KeysDenied, p.Keys)})
	}
	row("in force", &p.InForce)
	row("preview", &p.With)
	columns(w, rows)
	if p.Elsewhere > 0 {
		fmt.Fprintf(w, "  %d more requests were refused by other rules\n", p.Elsewhere)
	}
	if p.Overrides {
		fmt.Fprintln(w, "  keys that have limits of their own are counted by these all the same")
	}
	return nil
}

// shareText writes how many of all.
func shareText(n, all int64) string {
	if n == 0 || all == 0 {
		return count(n)
	}
	return fmt.Sprintf("%d (%.2g %%)", n, 100*float64(n)/float64(all))
}
