package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// ruleFlags say by which rules: those of a file, or one that the flags describe.
type ruleFlags struct {
	config    string
	key       string
	limits    []string
	algorithm string
	changed   func(string) bool
}

func (f *ruleFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "rule file or folder")
	c.Flags().StringVar(&f.key, "key", "ip", "without a file: what makes up the key, such as ip, user, ip+header:X-Api-Key; \"\" is one budget for all")
	c.Flags().StringArrayVar(&f.limits, "limit", nil, "without a file: a limit such as 60/m or '10/s burst=20'; may be given several times")
	c.Flags().StringVar(&f.algorithm, "algorithm", "", "without a file: token_bucket, sliding_log, sliding_window, fixed_window, leaky_bucket, warm_up")
	f.changed = c.Flags().Changed
}

// set returns the rules.
func (f *ruleFlags) set() (*rule.Set, error) {
	if f.config == "" {
		return f.single()
	}
	for _, name := range []string{"key", "limit", "algorithm"} {
		if f.changed(name) {
			return nil, usage(fmt.Errorf("--%s and --config: give one of them", name))
		}
	}
	loaded, err := load(f.config)
	if err != nil {
		return nil, err
	}
	return loaded.Set, nil
}

// single returns a set with the one rule that the flags describe.
func (f *ruleFlags) single() (*rule.Set, error) {
	if len(f.limits) == 0 {
		return nil, usage(errors.New("no rules: give --config FILE, or --limit such as 60/m"))
	}
	r := rule.Rule{Name: "replay"}
	if f.key != "" {
		r.Key = strings.Split(f.key, "+")
	}
	for _, text := range f.limits {
		if f.algorithm != "" {
			text = f.algorithm + " " + text
		}
		limit, err := sluice.Parse(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--limit: %w", err))
		}
		r.Limits = append(r.Limits, rule.Limit{Limit: limit})
	}
	if len(r.Limits) > 1 {
		for i := range r.Limits {
			r.Limits[i].Name = fmt.Sprintf("limit-%d", i+1)
		}
	}
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{r}})
	if err != nil {
		return nil, usage(err)
	}
	return set, nil
}
