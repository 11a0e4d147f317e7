package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/audit"
)

func newRules(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:     "rules",
		Short:   "Show the rules of a running server",
		Example: "  sluice rules list\n  sluice rules show login\n  sluice rules diff rules.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRulesList(t), newRulesShow(t), newRulesDiff(t))
	return c
}

func newRulesList(t Terminal) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the rules with their limits", Args: cobra.NoArgs}
	server := serverFlags(c, t)
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var rules api.Rules
		if err := server.ask(c.Context(), "GET", "/v1/rules", nil, &rules); err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), rules)
		}
		rows := [][]string{{"RULE", "MODE", "KEY", "LIMITS"}}
		for _, r := range rules.Rules {
			mode := string(r.Mode)
			if mode == "" {
				mode = string(rule.Enforce)
			}
			if rules.ShadowAll {
				mode = "shadow (all)"
			}
			rows = append(rows, []string{r.Name, mode, strings.Join(r.Key, ", "), limitTexts(r.Limits)})
		}
		columns(c.OutOrStdout(), rows)
		return nil
	}
	return c
}

func limitTexts(limits []rule.Limit) string {
	texts := make([]string, len(limits))
	for i, l := range limits {
		texts[i] = l.Limit.String()
	}
	return strings.Join(texts, ", ")
}

func newRulesShow(t Terminal) *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show one rule and its counts, as JSON", Args: cobra.ExactArgs(1)}
	server := serverFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error {
		var detail api.RuleDetail
		if err := server.ask(c.Context(), "GET", "/v1/rules/"+url.PathEscape(args[0]), nil, &detail); err != nil {
			return err
		}
		return printJSON(c.OutOrStdout(), detail)
	}
	return c
}

func newRulesDiff(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff FILE|FOLDER",
		Short: "Tell what would change if the server loaded these rules",
		Long:  "Diff tells in words what would change if the server loaded these rules. The exit\ncode is 1 if anything would.",
		Args:  cobra.ExactArgs(1),
	}
	server := serverFlags(c, t)
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
		lines := audit.Diff(before, loaded.Config)
		for _, line := range lines {
			fmt.Fprintln(c.OutOrStdout(), line)
		}
		if len(lines) > 0 {
			return &codeError{code: exitFailed}
		}
		fmt.Fprintln(c.OutOrStdout(), "nothing would change")
		return nil
	}
	return c
}

func newReset(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "reset [METHOD] PATH [ip=… user=… header:NAME=…]",
		Short: "Forget what a request's keys have spent",
		Long:  "Reset forgets what was spent by the keys that this request has under all rules that\nit matches: for a customer who was locked out.\n\n" + requestHelp,
		Args:  cobra.MinimumNArgs(1),
	}
	server := serverFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := parseRequest(args)
		if err != nil {
			return err
		}
		if err := server.ask(c.Context(), "POST", "/v1/reset", wireRequest(r), nil); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "done")
		return nil
	}
	return c
}

func newShadowAll(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:       "shadow-all on|off",
		Short:     "Turn every rule to shadow, so that nothing is refused, or back",
		Example:   "  sluice shadow-all on      in an incident: decide and count, refuse nobody\n  sluice shadow-all off",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
	}
	server := serverFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error {
		var state api.ShadowAll
		if err := server.ask(c.Context(), "PUT", "/v1/shadow-all", api.ShadowAll{On: args[0] == "on"}, &state); err != nil {
			return err
		}
		if state.On {
			fmt.Fprintln(c.OutOrStdout(), "every rule is shadow now: nothing is refused by a limit")
		} else {
			fmt.Fprintln(c.OutOrStdout(), "rules are enforced as they say")
		}
		return nil
	}
	return c
}

func newHealth(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "health",
		Short: "Tell whether the server can decide requests",
		Long:  "Health asks the server whether it is ready. The exit code is 1 if it is not: for the\nhealth check of a container.",
		Args:  cobra.NoArgs,
	}
	server := serverFlags(c, t)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var state api.Health
		if err := server.ask(c.Context(), "GET", "/readyz", nil, &state); err != nil {
			return err
		}
		if state.Status == "" {
			return errors.New("the server says nothing about itself")
		}
		fmt.Fprintln(c.OutOrStdout(), state.Status)
		return nil
	}
	return c
}

// count writes a number for people.
func count(n int64) string { return strconv.FormatInt(n, 10) }
