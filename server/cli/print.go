package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-limiter/sluice/server/api"
)

func printDecision(w io.Writer, d api.Decision) {
	switch {
	case d.Allowed && d.Rule == "":
		fmt.Fprint(w, "allowed: no rule limits it")
	case d.Allowed:
		fmt.Fprintf(w, "allowed: rule %s, limit %s, %d left", d.Rule, d.Limit, d.Remaining)
	case d.Rule == "":
		fmt.Fprintf(w, "refused: %s", d.Reason)
	default:
		fmt.Fprintf(w, "refused: %s, rule %s, limit %s", d.Reason, d.Rule, d.Limit)
	}
	if d.RetryAfterMS > 0 {
		fmt.Fprintf(w, ", retry after %v", milliseconds(d.RetryAfterMS))
	}
	if d.WaitMS > 0 {
		fmt.Fprintf(w, ", after a wait of %v", milliseconds(d.WaitMS))
	}
	if d.Shadow {
		fmt.Fprint(w, "; a shadow rule would refuse it")
	}
	if d.Degraded {
		fmt.Fprint(w, "; decided without the store")
	}
	fmt.Fprintln(w)
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func printExplanation(w io.Writer, x api.Explanation) {
	printDecision(w, x.Decision)
	fmt.Fprintf(w, "path as rules see it: %s\n", x.Path)
	if x.Calls > 1 {
		fmt.Fprintf(w, "the keys lie in %d slots of the Redis Cluster, so a decision takes %d calls: what one spends is given back if another refuses,\n"+
			"and others can see it for a round trip; rules with the same tag keep their keys in one slot\n", x.Calls, x.Calls)
	}
	for _, r := range x.Rules {
		fmt.Fprintf(w, "\nrule %s: ", r.Rule)
		if !r.Matches {
			fmt.Fprintf(w, "does not match: %s\n", r.Why)
			continue
		}
		fmt.Fprintf(w, "matches, %s, key %s, cost %d\n", r.Mode, r.Key, r.Cost)
		printLimits(w, r.Limits)
	}
}

func printLimits(w io.Writer, limits []api.LimitExplanation) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range limits {
		says := "allows"
		if !l.Allowed {
			says = "refuses: " + l.Reason
			if l.RetryAfterMS > 0 {
				says += fmt.Sprintf(", retry after %v", milliseconds(l.RetryAfterMS))
			}
		}
		if l.Candidate {
			says = "candidate, " + says
		}
		if l.InFlight > 0 {
			says += fmt.Sprintf(", %d in flight", l.InFlight)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d left\t%s\n", l.Name, l.Limit, l.Scope, l.Remaining, says)
	}
	_ = table.Flush() // what cannot be written is not seen by anybody
}

// count writes a number for people.
func count(n int64) string { return strconv.FormatInt(n, 10) }

// columns prints rows as a table. The first row is its head.
func columns(w io.Writer, rows [][]string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush()
}
