package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/api"
)

const requestHelp = `A request is written as method and path, then what else is known of it:

  POST /login?next=1 ip=192.0.2.1 user=ann host=example.com header:X-Api-Key=abc
  cookie:sid=1 attribute:plan=free length=2048 cost=3`

// asker says where requests are decided: by a server, or by the rules of a file.
type asker struct {
	*remote
	config string
	given  func() bool // whether config was
	json   *bool
}

func askerFlags(c *cobra.Command, t Terminal) *asker {
	a := &asker{remote: serverFlags(c, t), json: jsonFlag(c)}
	c.Flags().StringVar(&a.config, "config", "", "decide by this rule file or folder, with fresh budgets, instead of asking a server")
	a.given = func() bool { return c.Flags().Changed("config") }
	return a
}

func newCheck(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [METHOD] PATH [ip=… user=… header:NAME=…]",
		Short: "Decide one request, and spend its cost",
		Long:  "Check decides one request and spends its cost. The exit code is 3 if it is refused.\n\n" + requestHelp,
		Example: `  sluice check POST /login ip=192.0.2.1
  sluice check --config rules.yaml --json GET /api/orders header:X-Api-Key=abc`,
		Args: cobra.MinimumNArgs(1),
	}
	a := askerFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := a.check(c.Context(), args)
		if err != nil {
			return err
		}
		if err := a.print(c.OutOrStdout(), d, func(w io.Writer) { printDecision(w, d) }); err != nil {
			return err
		}
		if !d.Allowed {
			return &codeError{code: exitNo}
		}
		return nil
	}
	return c
}

func newExplain(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain [METHOD] PATH [ip=… user=… header:NAME=…]",
		Short: "Tell which rules match a request and what would happen, spending nothing",
		Long:  "Explain tells for every rule whether it matches the request or why not, how full\neach of its limits is, and what would happen. Nothing is spent.\n\n" + requestHelp,
		Example: `  sluice explain POST /login ip=192.0.2.1
  sluice explain --config rules.yaml GET /api/orders header:X-Api-Key=abc`,
		Args: cobra.MinimumNArgs(1),
	}
	a := askerFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error {
		x, err := a.explain(c.Context(), args)
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), x, func(w io.Writer) { printExplanation(w, x) })
	}
	return c
}

func (a *asker) print(w io.Writer, v any, words func(io.Writer)) error {
	if *a.json {
		return printJSON(w, v)
	}
	words(w)
	return nil
}

func (a *asker) check(ctx context.Context, args []string) (d api.Decision, err error) {
	r, err := parseRequest(args)
	if err != nil {
		return d, err
	}
	if !a.given() {
		err = a.ask(ctx, "POST", "/v1/check", wireRequest(r), &d)
		return d, err
	}
	err = a.local(func(e *engine.Engine) error {
		decision, err := e.Check(ctx, r.Request())
		d = api.DecisionOf(&decision)
		return err
	})
	return d, err
}

func (a *asker) explain(ctx context.Context, args []string) (x api.Explanation, err error) {
	r, err := parseRequest(args)
	if err != nil {
		return x, err
	}
	if !a.given() {
		err = a.ask(ctx, "POST", "/v1/explain", wireRequest(r), &x)
		return x, err
	}
	err = a.local(func(e *engine.Engine) error {
		explanation, err := e.Explain(ctx, r.Request())
		if err == nil {
			x = api.ExplanationOf(explanation)
		}
		return err
	})
	return x, err
}

// local runs ask on an engine with the file's rules.
func (a *asker) local(ask func(*engine.Engine) error) error {
	loaded, err := load(a.config)
	if err != nil {
		return err
	}
	e, err := engine.New(loaded.Set, nil, engine.WithInstance(alone{}))
	if err != nil {
		return err
	}
	return errors.Join(ask(e), e.Close())
}

// alone is the only instance, for limits that are split.
type alone struct{}

func (alone) Share() (rank, live int) { return 0, 1 }

func parseRequest(args []string) (rulefile.TestRequest, error) {
	words := make([]string, len(args))
	for i, word := range args {
		words[i] = word
		if name, value, found := strings.Cut(word, "="); found && strings.ContainsAny(value, " \t\"") {
			words[i] = fmt.Sprintf("%s=%q", name, value)
		}
	}
	r, err := rulefile.ParseRequest(strings.Join(words, " "))
	if err != nil {
		return r, usage(err)
	}
	if r.Path == "" {
		return r, usage(fmt.Errorf("%q has no path: write POST /login", strings.Join(args, " ")))
	}
	return r, nil
}

// wireRequest is a request as the server reads it.
func wireRequest(t rulefile.TestRequest) api.Request {
	r := t.Request()
	w := api.Request{
		Method: r.Method, Host: r.Host, Path: r.Path, Query: r.Query, User: r.User,
		Attributes: r.Attributes, Cost: r.Cost, Length: r.Length, Headers: map[string]string{},
	}
	if r.IP.IsValid() {
		w.IP = r.IP.String()
	}
	maps.Copy(w.Headers, t.Headers)
	if line := r.Header.Get("Cookie"); line != "" {
		w.Headers["Cookie"] = line
	}
	return w
}
