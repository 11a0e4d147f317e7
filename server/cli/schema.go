package cli

import (
	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of rule files and settings, for editors",
		Long: `Schema prints the JSON schema of a file with rules and settings. Editors that know the
YAML language server complete and check such a file as it is written, if it begins with

  # yaml-language-server: $schema=sluice.schema.json`,
		Example: "  sluice schema > sluice.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(schema)
			return err
		},
	}
}
