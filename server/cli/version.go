package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/app"
)

// versionReport is what version --json prints.
type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // of the source; "unknown" if it was built without
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		b := app.Build()
		v := versionReport{b.Version, b.Revision, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		if *asJSON {
			return printJSON(c.OutOrStdout(), v)
		}
		if v.Version == "(devel)" {
			v.Version = "(not released)"
		}
		return say(c.OutOrStdout(), fmt.Sprintf("sluice %s, %s %s", v.Version, v.Go, v.Platform))
	}
	return c
}
