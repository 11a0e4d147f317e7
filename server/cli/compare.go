package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/compare"
)

// compareFlags are what somebody asks of a comparison.
type compareFlags struct {
	log     logFlags
	pattern string
	limits  []string
	key     string
	seed    uint64
	svg     string
	json    bool
	measure bool
}

func newCompare(t Terminal) *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{
		Use:   "compare [flags]",
		Short: "Show what every algorithm does to the same traffic",
		Long: `Compare plays one traffic through all algorithms, by the code that decides in
production, on a virtual clock, and shows what each lets through: as bars, as a table, and
with --svg as a picture. The table tells by how much the limit can be exceeded, how smooth
the result is, what passes at once, what was denied for nothing, and what a key takes.

The traffic is a pattern that suits the limit, or that of an access log.`,
		Example: `  sluice compare --pattern edge --limit 100/s
  sluice compare --pattern flash-sale --limit 20/s --svg flash-sale.svg
  sluice compare --pattern access.log.gz --limit 60/m
  sluice compare --pattern on-off --limit 'token_bucket 20/s burst=5' --limit 'token_bucket 20/s burst=20'`,
		Args: cobra.NoArgs,
	}
	f.log.add(c)
	c.Flags().StringVar(&f.pattern, "pattern", "edge", strings.Join(compare.Patterns(), ", ")+", or the file of a log (- is the standard input)")
	c.Flags().StringArrayVar(&f.limits, "limit", []string{"10/s"}, "a rate for all algorithms, or a limit that names its own, such as 'token_bucket 10/s burst=5'; may be given several times")
	c.Flags().StringVar(&f.key, "key", "ip", "of a log: ip is a budget for each client, \"\" one for all")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of patterns that come by chance")
	c.Flags().StringVar(&f.svg, "svg", "", "draw the picture into this file")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.measure, "measure", false, "measure what a decision takes on this machine, too")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, t) }
	return c
}

func (f *compareFlags) run(c *cobra.Command, t Terminal) error {
	limits, err := f.contenders()
	if err != nil {
		return usage(fmt.Errorf("--limit: %w", err))
	}
	traffic, err := f.traffic(c, t, limits[0])
	if err != nil {
		return err
	}
	report, err := compare.Run(traffic, limits)
	if err != nil {
		return usage(err)
	}
	if f.measure {
		if err := report.Measure(c.Context(), time.Now); err != nil {
			return err
		}
	}
	if f.svg != "" {
		var picture bytes.Buffer
		if err := report.WriteSVG(&picture); err != nil {
			return err
		}
		if err := os.WriteFile(f.svg, picture.Bytes(), 0o644); err != nil {
			return usage(fmt.Errorf("--svg: %w", err))
		}
	}
	if f.json {
		return printJSON(c.OutOrStdout(), report)
	}
	return report.WriteText(c.OutOrStdout())
}

// contenders are the limits to compare: a rate stands for one limit of every algorithm.
func (f *compareFlags) contenders() ([]sluice.Limit, error) {
	var all []sluice.Limit
	for _, text := range f.limits {
		limit, err := sluice.Parse(text)
		if err != nil {
			return nil, err
		}
		if limit.Algorithm != "" {
			all = append(all, limit)
			continue
		}
		every, err := compare.Algorithms(limit)
		if err != nil {
			return nil, err
		}
		all = append(all, every...)
	}
	return all, nil
}

// traffic makes the requests: by a pattern that suits a limit, or from a log.
func (f *compareFlags) traffic(c *cobra.Command, t Terminal, limit sluice.Limit) (*compare.Traffic, error) {
	if slices.Contains(compare.Patterns(), f.pattern) {
		traffic, err := compare.Pattern(f.pattern, limit, f.seed)
		if err != nil {
			return nil, usage(err)
		}
		return traffic, nil
	}
	if f.key != "ip" && f.key != "" {
		return nil, usage(fmt.Errorf("--key %q: give ip, or nothing for one budget; for other keys see sluice replay", f.key))
	}
	log, err := f.log.open([]string{f.pattern}, t.In)
	if err != nil {
		return nil, usage(fmt.Errorf("--pattern: it is none of %s, and no log: %w", strings.Join(compare.Patterns(), ", "), err))
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel() // a longer log is not read to its end
	defer showProgress(c.ErrOrStderr(), log)()
	traffic, err := compare.FromLog(filepath.Base(f.pattern), log.Entries(ctx), f.key == "ip")
	if failed := log.Err(); failed != nil && (traffic == nil || !traffic.Cut) {
		return nil, failed
	}
	return traffic, err
}
