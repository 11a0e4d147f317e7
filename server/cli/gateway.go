package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/config"
)

func newGateway(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "gateway",
		Short: "Let requests through to servers, as far as the rules do",
		Long: `Gateway is a reverse proxy: it decides every request by the rules, sends those that
pass on to one of the servers, and their answers back. It does what "serve" does with
a section "gateway" in its file, and takes servers from the command line instead.

The API, with metrics and what "top" shows, is at --api. All that it can be told stands
in the file: docs/GATEWAY.md tells of routes, health checks, TLS and the access log.`,
		Example: `  sluice gateway --upstream http://127.0.0.1:9000
  sluice gateway --config rules.yaml --upstream http://10.0.0.7:9000 --upstream http://10.0.0.8:9000
  sluice gateway --config rules.yaml --listen :80        with the servers of the file`,
		Args: cobra.NoArgs,
	}
	path := c.Flags().String("config", "", "rule file, or folder of them; also SLUICE_CONFIG")
	upstreams := c.Flags().StringArray("upstream", nil, "server to send requests to, such as http://127.0.0.1:9000; several take turns")
	listen := c.Flags().String("listen", "", "address of the gateway (default: as the file says, or "+config.DefaultGateway+")")
	api := c.Flags().String("api", "", "address of the API (default: as the file or SLUICE_LISTEN says; without either "+defaultAPI+")")
	c.RunE = func(c *cobra.Command, _ []string) error {
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		from := config.Sources{Path: *path, Env: environment(t), Flags: map[string]string{}, Upstreams: *upstreams, GatewayListen: *listen}
		given := c.Flags().Changed("config")
		if value, ok := lookup(t.Environ, "SLUICE_CONFIG"); ok && !given {
			from.Path, given = value, true
		}
		switch {
		case given && from.Path == "":
			return usage(errNoPath)
		case from.Path == "" && len(from.Upstreams) == 0:
			return usage(errNoUpstream)
		}
		if *api != "" {
			from.Flags["listen"] = *api
		} else if from.Path == "" {
			if _, set := from.Env("SLUICE_LISTEN"); !set {
				from.Flags["listen"] = defaultAPI
			}
		}
		return runGateway(c, t, from, hup)
	}
	return c
}

// defaultAPI is where the API of a gateway listens: servers to send requests to are often
// where the API of "serve" does.
const defaultAPI = "127.0.0.1:8001"

var errNoUpstream = errors.New("there is no server to send requests to: name one with --upstream, or write a section gateway into the file of --config (docs/GATEWAY.md)")

func runGateway(c *cobra.Command, t Terminal, from config.Sources, hup <-chan os.Signal) error {
	a, loaded, err := start(c, t, from)
	if err != nil {
		return err
	}
	if !loaded.Gateway.On() {
		a.Stop()
		return usage(errNoUpstream)
	}
	scheme := "http"
	if loaded.Gateway.TLS.Cert != "" {
		scheme = "https"
	}
	_, version := a.Rules()
	fmt.Fprintf(c.OutOrStdout(), "the gateway listens on %s://%s with %s\n", scheme, a.DoorAddr("gateway"), rulesOf(version.Source))
	fmt.Fprintf(c.OutOrStdout(), "metrics and API: http://%s, and: sluice top --server http://%s\n", a.Addr(), a.Addr())
	return reloading(c.Context(), a, hup)
}
