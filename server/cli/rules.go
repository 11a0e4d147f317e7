package cli

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/audit"
)

func newRules(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Show the rules of a running server, and change which are in force",
		Example: `  sluice rules list
  sluice rules show login
  sluice rules diff rules.yaml      before a deploy
  sluice rules reload               after one, if the server does not see the file change
  sluice rules rollback             if it did harm`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRulesList(t), newRulesShow(t), newRulesDiff(t), newRulesReload(t), newRulesRollback(t))
	return c
}

func newRulesList(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the rules with their limits", Args: cobra.NoArgs,
		Example: "  sluice rules list\n  sluice rules list --json | jq -r '.rules[].name'",
	}
	return asking(t, c, always("GET", "/v1/rules"), func(w io.Writer, rules api.Rules) error {
		rows := [][]string{{"RULE", "MODE", "KEY", "LIMITS"}}
		for i := range rules.Rules {
			rows = append(rows, ruleRow(&rules.Rules[i], rules.ShadowAll))
		}
		columns(w, rows)
		return nil
	})
}

// ruleRow is a rule in short.
func ruleRow(r *rule.Rule, shadowAll bool) []string {
	mode := string(r.Mode)
	if mode == "" {
		mode = string(rule.Enforce)
	}
	if shadowAll {
		mode = "shadow (all)"
	}
	limits := make([]string, len(r.Limits))
	for i, l := range r.Limits {
		limits[i] = l.Limit.String()
	}
	return []string{r.Name, mode, strings.Join(r.Key, ", "), strings.Join(limits, ", ")}
}

func newRulesShow(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use: "show NAME", Short: "Show one rule and its counts", Args: cobra.ExactArgs(1),
		Long:    "Show prints one rule in short and what it has counted; with --json all of it.",
		Example: "  sluice rules show login\n  sluice rules show --json login | jq .rule.match",
	}
	return asking(t, c, func(args []string) (call, error) {
		return call{method: "GET", path: "/v1/rules/" + url.PathEscape(args[0])}, nil
	}, func(w io.Writer, d api.RuleDetail) error {
		columns(w, [][]string{{"RULE", "MODE", "KEY", "LIMITS"}, ruleRow(&d.Rule, false)})
		fmt.Fprintln(w)
		s := &d.Stats
		columns(w, [][]string{
			{"REQUESTS", "ALLOWED", "REFUSED", "SHADOW", "CANDIDATE", "UNDECIDED", "DEGRADED", "OFFERED", "ADMITTED"},
			{
				count(s.Requests), count(s.Allowed), count(s.Denied), count(s.ShadowDenied), count(s.CandidateDenied),
				count(s.Undecided), count(s.Degraded), count(s.CostOffered), count(s.CostAdmitted),
			},
		})
		return nil
	})
}

// changes is what rules diff --json prints.
type changes struct {
	Changes []string `json:"changes"`
}

func newRulesDiff(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:     "diff FILE|FOLDER",
		Short:   "Tell what would change if the server loaded these rules",
		Long:    "Diff tells in words what would change if the server loaded these rules. The exit\ncode is 3 if anything would.",
		Example: "  sluice rules diff rules.yaml",
		Args:    cobra.ExactArgs(1),
	}
	server := serverFlags(c, t)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		loaded, err := load(args[0])
		if err != nil {
			return err
		}
		var running api.Rules
		if err := server.ask(c.Context(), "GET", "/v1/rules", nil, &running); err != nil {
			return err
		}
		before := rule.Config{Default: running.Default, Paths: running.Paths, Rules: running.Rules}
		found := append([]string{}, audit.Diff(before, loaded.Config)...)
		if *asJSON {
			err = printJSON(c.OutOrStdout(), changes{found})
		} else {
			err = printChanges(c.OutOrStdout(), found, "nothing would change")
		}
		if err == nil && len(found) > 0 {
			return &codeError{code: exitNo}
		}
		return err
	}
	return c
}

func newRulesReload(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "reload",
		Short: "Have the server read its rules again, and tell what changed",
		Long:  "Reload has the server read its rules again, as SIGHUP does, and tells what changed. If\nthe file is wrong, the rules in force stay and the exit code is 1.",
		Args:  cobra.NoArgs,
	}
	return asking(t, c, always("POST", "/v1/reload"), printReloaded)
}

func newRulesRollback(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Put the rules in force again that were before the last change",
		Long:  "Rollback puts the rules in force again that were before the last change, for one that\ndid harm; a second rollback undoes the first. The file is not touched: correct it too,\nbecause the next reload puts it in force.",
		Args:  cobra.NoArgs,
	}
	return asking(t, c, always("POST", "/v1/rules/rollback"), printReloaded)
}

func printReloaded(w io.Writer, r api.Reloaded) error {
	return printChanges(w, r.Changes, "nothing changed")
}

// printChanges prints lines, or what to say without any.
func printChanges(w io.Writer, lines []string, none string) error {
	if len(lines) == 0 {
		lines = []string{none}
	}
	return say(w, strings.Join(lines, "\n"))
}
