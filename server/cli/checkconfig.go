package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/server/config"
)

func newCheckConfig(t Terminal) *cobra.Command {
	var test bool
	c := &cobra.Command{
		Use:   "check-config FILE|FOLDER",
		Short: "Find what is wrong with rules and settings",
		Long: `Check-config reads rules and settings as the server would, with SLUICE_* variables of
the environment, and prints every mistake with its place, the line and a hint. With
--test it also runs the tests that the files hold. Secrets need not be on this
machine. The exit code is 2 if anything is wrong.`,
		Example: `  sluice check-config rules.yaml
  sluice check-config --test /etc/sluice/rules`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&test, "test", false, "run the tests of the files as well")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if args[0] == "" {
			return usage(errNoPath)
		}
		loaded, absent, err := config.Sources{Path: args[0], Env: environment(t)}.Examine()
		if *asJSON {
			return reportJSON(c, loaded, absent, err, test)
		}
		if err != nil {
			return usage(err)
		}
		rules := loaded.Rules
		for _, w := range rules.Warnings {
			fmt.Fprintln(c.OutOrStdout(), w)
		}
		for _, place := range absent {
			fmt.Fprintf(c.OutOrStdout(), "%s is not on this machine: it was not checked\n", place)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %d rules, %d tests, %d warnings\n", args[0], len(rules.Config.Rules), len(rules.Tests), len(rules.Warnings))
		if test {
			return runTests(c, rules)
		}
		return nil
	}
	return c
}

// load reads rules to try them.
func load(path string) (*rulefile.Result, error) {
	if path == "" {
		return nil, usage(errNoPath)
	}
	loaded, err := config.Read(path)
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
	Absent   []string           `json:"absent,omitempty"` // secrets that are not on this machine, and were not checked
	Tests    []testReport       `json:"tests,omitempty"`  // with --test
}

// testReport is how one test went.
type testReport struct {
	Name     string             `json:"name"`
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Passed   bool               `json:"passed"`
	Failures []rulefile.Problem `json:"failures,omitempty"`
}

func reportJSON(c *cobra.Command, loaded *config.Loaded, absent []string, err error, test bool) error {
	r := report{Problems: []rulefile.Problem{}, Absent: absent}
	wrong := err != nil
	var problems rulefile.Problems
	switch {
	case errors.As(err, &problems):
		r.Problems = append(r.Problems, problems...)
	case err != nil:
		return err
	default:
		r.Rules = len(loaded.Rules.Config.Rules)
		r.Problems = append(r.Problems, loaded.Rules.Warnings...)
	}
	if test && !wrong {
		for _, t := range rulefile.RunTests(loaded.Rules) {
			r.Tests = append(r.Tests, testReport{t.Name, t.File, t.Line, t.Passed(), t.Failures})
			wrong = wrong || !t.Passed()
		}
	}
	if printed := printJSON(c.OutOrStdout(), r); printed != nil {
		return printed
	}
	if wrong {
		return &codeError{code: exitUsage}
	}
	return nil
}
