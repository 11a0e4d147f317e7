package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/envoy"
)

func newImport() *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Turn the configuration of another limiter into rules",
	}
	c.AddCommand(newImportEnvoy())
	return c
}

func newImportEnvoy() *cobra.Command {
	var o envoy.Options
	c := &cobra.Command{
		Use:   "envoy FILE|FOLDER...",
		Short: "Turn descriptors of envoyproxy/ratelimit into rules",
		Long: `Import envoy reads descriptors of envoyproxy/ratelimit and prints a rule file of our
own. What rules cannot say stands in it as a comment. There is no need to convert:
"sluice serve --envoy-config" reads the descriptors as they are, with all that they
mean there.

The exit code is 2 if there is a mistake in the files, and 1 if a limit could not be
converted.`,
		Example: `  sluice import envoy /etc/ratelimit/config > rules.yaml
  sluice check-config rules.yaml`,
		Args: cobra.MinimumNArgs(1),
	}
	c.Flags().BoolVar(&o.Merge, "merge", false, "several files may have the same domain")
	c.Flags().StringVar(&o.Zone, "zone", "", "time zone of days, weeks, months and years")
	c.RunE = func(c *cobra.Command, args []string) error {
		var files []envoy.File
		for _, path := range args {
			some, err := envoy.Read(path)
			if err != nil {
				return usage(err)
			}
			files = append(files, some...)
		}
		tree, err := envoy.Parse(files, o)
		if err != nil {
			return usage(err)
		}
		text, lost := tree.Convert()
		fmt.Fprint(c.OutOrStdout(), text)
		if lost > 0 {
			return fmt.Errorf("not converted: %d of %d limits: see NOT CONVERTED in the output", lost, len(tree.Leaves()))
		}
		return nil
	}
	return c
}
