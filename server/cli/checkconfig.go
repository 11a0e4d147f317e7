package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/server/config"
)

func newCheckConfig() *cobra.Command {
	var test, asJSON bool
	c := &cobra.Command{
		Use:   "check-config FILE|FOLDER",
		Short: "Find what is wrong with rules and settings",
		Long: `Check-config reads rules and settings as the server would, and prints every mistake
with its place, the line and a hint. With --test it also runs the tests that the
files hold. The exit code is 2 if anything is wrong.`,
		Example: `  sluice check-config rules.yaml
  sluice check-config --test /etc/sluice/rules`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&test, "test", false, "run the tests of the files as well")
	c.Flags().BoolVar(&asJSON, "json", false, "print problems as JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		loaded, err := load(args[0])
		if asJSON {
			return reportJSON(c, loaded, err)
		}
		if err != nil {
			return err
		}
		for _, w := range loaded.Warnings {
			fmt.Fprintln(c.OutOrStdout(), w)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %d rules, %d tests, %d warnings\n", args[0], len(loaded.Config.Rules), len(loaded.Tests), len(loaded.Warnings))
		if test {
			return runTests(c, loaded)
		}
		return nil
	}
	return c
}

// load reads rules, with the settings of the server among them.
func load(path string) (*rulefile.Result, error) {
	loaded, err := rulefile.Load(path, rulefile.Section(config.Section, config.Defaults()))
	if err != nil {
		return nil, usage(err)
	}
	return loaded, nil
}

func runTests(c *cobra.Command, loaded *rulefile.Result) error {
	failed := 0
	for _, result := range rulefile.RunTests(loaded) {
		fmt.Fprintln(c.OutOrStdout(), result)
		if !result.Passed() {
			failed++
		}
	}
	if failed > 0 {
		return usage(fmt.Errorf("%d of %d tests failed", failed, len(loaded.Tests)))
	}
	return nil
}

// report is what --json prints.
type report struct {
	Rules    int                `json:"rules"`
	Problems []rulefile.Problem `json:"problems"`
}

func reportJSON(c *cobra.Command, loaded *rulefile.Result, err error) error {
	r := report{Problems: []rulefile.Problem{}}
	var problems rulefile.Problems
	switch {
	case errors.As(err, &problems):
		r.Problems = append(r.Problems, problems...)
	case err != nil:
		return err
	default:
		r.Rules = len(loaded.Config.Rules)
		r.Problems = append(r.Problems, loaded.Warnings...)
	}
	if printed := printJSON(c.OutOrStdout(), r); printed != nil {
		return printed
	}
	if err != nil {
		return &codeError{code: exitUsage}
	}
	return nil
}
