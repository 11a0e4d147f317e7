package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// call is what a command sends to a server.
type call struct {
	method, path string
	body         any // nil: none
}

// asking makes a command of its texts: it sends a call, and prints the answer in words or,
// with --json, as it came. words may end with an exit code.
func asking[A any](t Terminal, c *cobra.Command, prepare func(args []string) (call, error), words func(io.Writer, A) error) *cobra.Command {
	server := serverFlags(c, t)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ask, err := prepare(args)
		if err != nil {
			return err
		}
		var answer A
		if err := server.ask(c.Context(), ask.method, ask.path, ask.body, &answer); err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), answer)
		}
		return words(c.OutOrStdout(), answer)
	}
	return c
}

// always is for a command that sends the same whatever its arguments.
func always(method, path string) func([]string) (call, error) {
	return func([]string) (call, error) { return call{method: method, path: path}, nil }
}

func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON, for scripts")
}
