package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

func newServe(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer checks over HTTP",
		Long: `Serve answers checks over HTTP by the rules of a file or a folder, which are read
again when they change, on SIGHUP, and when the API is asked to. A file with a
mistake never replaces rules that are good. Without --config it runs sample rules.

Every setting can stand in the file, below "server:", in the environment, and in a
flag; a flag beats the environment, which beats the file.`,
		Example: `  sluice serve
  sluice serve --config rules.yaml --redis redis://127.0.0.1:6379
  sluice serve --config rules.yaml --resp 127.0.0.1:6380
  sluice serve --grpc 127.0.0.1:8081 --envoy-config /etc/ratelimit/config
  SLUICE_LISTEN=:8080 SLUICE_TLS_OFF=true SLUICE_TOKENS_FILE=/run/secrets/tokens sluice serve --config /etc/sluice`,
		Args: cobra.NoArgs,
	}
	sources := settingFlags(c, t)
	c.RunE = func(c *cobra.Command, _ []string) error {
		hup := make(chan os.Signal, 1) // from now on: a signal while it starts must not end it
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		from, err := sources()
		if err != nil {
			return err
		}
		a, loaded, err := start(c, t, from)
		if err != nil {
			return err
		}
		scheme := "http"
		if loaded.Config.TLS.Cert != "" {
			scheme = "https"
		}
		hello(c.OutOrStdout(), a, scheme, len(loaded.Tokens) > 0)
		if address := a.DoorAddr("grpc"); address != nil {
			fmt.Fprintf(c.OutOrStdout(), "Envoy's rate-limit service listens on %s\n\n", address)
		}
		if from.Path == "" && loaded.Envoy == nil {
			fmt.Fprint(c.OutOrStdout(), "These are sample rules. Write your own and start with --config rules.yaml.\n\n")
		}
		return reloading(c.Context(), a, hup)
	}
	return c
}

// errNoPath stands for a variable in a script that is not set: sample rules in place of
// somebody's own would be a bad surprise.
var errNoPath = errors.New("the path of the rules is empty: name a file or a folder, or leave --config and SLUICE_CONFIG out")

// settingFlags gives a command a flag for every setting. What it returns reads them.
func settingFlags(c *cobra.Command, t Terminal) func() (config.Sources, error) {
	path := c.Flags().String("config", "", "rule file, or folder of them; also SLUICE_CONFIG")
	for _, s := range config.Settings() {
		c.Flags().String(s.Flag(), s.Default(), s.Help)
		if s.IsBool() {
			c.Flags().Lookup(s.Flag()).NoOptDefVal = "true"
		}
	}
	resp := c.Flags().String("resp", "", "short for --resp-listen")
	grpc := c.Flags().String("grpc", "", "short for --grpc-listen")
	return func() (config.Sources, error) {
		sources := config.Sources{
			Path:  *path,
			Env:   environment(t),
			Flags: map[string]string{},
		}
		given := c.Flags().Changed("config")
		if value, ok := lookup(t.Environ, "SLUICE_CONFIG"); ok && !given {
			sources.Path, given = value, true
		}
		if given && sources.Path == "" {
			return sources, usage(errNoPath)
		}
		if c.Flags().Changed("grpc") {
			sources.Flags["grpc.listen"] = *grpc
		}
		if c.Flags().Changed("resp") {
			sources.Flags["resp.listen"] = *resp
		}
		for _, s := range config.Settings() {
			if c.Flags().Changed(s.Flag()) {
				sources.Flags[s.Name] = c.Flags().Lookup(s.Flag()).Value.String()
			}
		}
		return sources, nil
	}
}

// start makes a server that is ready to run.
func start(c *cobra.Command, t Terminal, sources config.Sources) (*app.App, *config.Loaded, error) {
	loaded, err := sources.Load()
	if problems := rulefile.Problems(nil); errors.As(err, &problems) {
		return nil, nil, usage(err)
	} else if err != nil {
		return nil, nil, err
	}
	logger := app.NewLogger(c.ErrOrStderr(), loaded.Config.Log)
	for _, name := range config.Unknown(t.Environ, "SLUICE_CONFIG", "SLUICE_SERVER", "SLUICE_TOKEN") {
		logger.Warn("this variable means nothing to sluice", "name", name)
	}
	a, err := app.New(c.Context(), sources, loaded, logger)
	return a, loaded, err
}

// reloading runs the server, and reads its rules again on every SIGHUP.
func reloading(ctx context.Context, a *app.App, hup <-chan os.Signal) error {
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-hup:
				_, _ = a.Reload(ctx, "signal") // logged and audited by the app
			case <-ended:
				return
			}
		}
	}()
	return a.Run(ctx)
}

// rulesOf says in words where the rules come from.
func rulesOf(source string) string {
	if source == config.BuiltIn {
		return "its built-in sample rules (name your own with --config)"
	}
	return "the rules of " + source
}

// hello says what runs and what to try next.
func hello(out io.Writer, a *app.App, scheme string, tokens bool) {
	_, version := a.Rules()
	base := scheme + "://" + a.Addr().String()
	fmt.Fprintf(out, "sluice listens on %s with %s\n\nTry it:\n", base, rulesOf(version.Source))
	token := ""
	if tokens {
		token = `-H "Authorization: Bearer $SLUICE_TOKEN" `
	}
	fmt.Fprintf(out, "  curl -s %s--json '{\"method\":\"POST\",\"path\":\"/login\",\"ip\":\"192.0.2.1\"}' %s/v1/check\n", token, base)
	fmt.Fprintf(out, "  sluice explain --server %s POST /login ip=192.0.2.1\n  sluice top --server %s\n\n", base, base)
}
