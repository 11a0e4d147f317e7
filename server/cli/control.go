package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/api"
)

// done is the answer to what answers nothing.
type done struct{}

func newReset(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "reset [METHOD] PATH [ip=… user=… header:NAME=…]",
		Short: "Forget what a request's keys have spent",
		Long:  "Reset forgets what was spent by the keys that this request has under all rules that\nit matches: for a customer who was locked out. The audit log of the server remembers it.\n\n" + requestHelp,
		Example: `  sluice reset POST /login ip=192.0.2.1
  sluice reset --server https://sluice.internal:8443 GET /api/orders user=ann`,
		Args: cobra.MinimumNArgs(1),
	}
	return asking(t, c, func(args []string) (call, error) {
		r, err := parseRequest(args)
		return call{"POST", "/v1/reset", wireRequest(r)}, err
	}, func(w io.Writer, _ done) error { return say(w, "done") })
}

func newShadowAll(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:       "shadow-all on|off",
		Short:     "Turn every rule to shadow, so that nothing is refused, or back",
		Long:      "Shadow-all is the kill switch: with on, the server goes on to decide and count, and\nrefuses nobody. It holds until off, or until the server ends. The audit log of the\nserver remembers it.",
		Example:   "  sluice shadow-all on      in an incident: decide and count, refuse nobody\n  sluice shadow-all off",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
	}
	return asking(t, c, func(args []string) (call, error) {
		return call{"PUT", "/v1/shadow-all", api.ShadowAll{On: args[0] == "on"}}, nil
	}, func(w io.Writer, state api.ShadowAll) error {
		if state.On {
			return say(w, "every rule is shadow now: nothing is refused by a limit")
		}
		return say(w, "rules are enforced as they say")
	})
}

func newHealth(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:     "health",
		Short:   "Tell whether the server can decide requests",
		Long:    "Health asks the server whether it is ready. The exit code is 1 if it is not: for the\nhealth check of a container.",
		Example: "  sluice health\n  sluice health --server https://sluice.internal:8443",
		Args:    cobra.NoArgs,
	}
	return asking(t, c, always("GET", "/readyz"), func(w io.Writer, state api.Health) error {
		if state.Status == "" {
			return errors.New("the server says nothing about itself")
		}
		return say(w, state.Status)
	})
}

func say(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, text)
	return err
}
