// Package cli is the command sluice: a server, and what one asks a server or a rule
// file from the command line.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes, as exitHelp tells them.
const (
	exitOK     = 0
	exitFailed = 1 // it could not be done
	exitUsage  = 2 // a wrong flag, argument or setting
	exitNo     = 3 // the answer is no: refused (check), or something would change (rules diff)
)

// exitHelp ends the help of every command.
const exitHelp = `
Exit codes: 0 done, 1 failed, 2 wrong flag, argument, setting or rule file, 3 the answer
is no: refused (check), something would change (rules diff), or there is too little data
(recommend).
`

// Terminal is what a program gets from its caller.
type Terminal struct {
	Args    []string // without the program's name
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Environ []string // NAME=value
}

// codeError ends the program with an exit code. Without a cause everything was said
// already.
type codeError struct {
	code  int
	cause error
}

func (e *codeError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.cause.Error()
}

func (e *codeError) Unwrap() error { return e.cause }

func usage(err error) error { return &codeError{exitUsage, err} }

// Run runs the command and returns its exit code. It ends when ctx does.
func Run(ctx context.Context, t Terminal) int {
	root := newRoot(t)
	root.SetArgs(t.Args)
	root.SetIn(t.In)
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	began := false // what cobra complains of before is a mistake of whoever typed it
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var coded *codeError
	if !errors.As(err, &coded) {
		coded = &codeError{exitFailed, err}
		if !began {
			what, suggestions, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
			hinted := fmt.Sprintf("%s (see %s --help)\n%s", what, command.CommandPath(), suggestions)
			coded = &codeError{exitUsage, errors.New(strings.TrimSpace(hinted))}
		}
	}
	if coded.cause != nil {
		fmt.Fprintln(t.Err, "sluice:", coded.cause)
	}
	return coded.code
}

func newRoot(t Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Rate limits for everything that can ask over HTTP",
		Long: `Sluice decides which requests go ahead: by rules in a YAML file, with budgets in
memory or in Redis. A server answers programs in any language; the other commands
ask it, or try a rule file without one.`,
		Example: `  sluice serve                                  start with sample rules, without any file
  sluice serve --config rules.yaml              start with your own, reloaded when they change
  sluice check-config --test rules.yaml         find mistakes, run the file's own tests
  sluice explain --config rules.yaml POST /login ip=192.0.2.1
  sluice check POST /login ip=192.0.2.1         ask the server on this machine`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetUsageTemplate(root.UsageTemplate() + exitHelp)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	root.AddCommand(newServe(t), newGateway(t), newCheck(t), newExplain(t), newCheckConfig(t), newRules(t), newReset(t),
		newShadowAll(t), newTop(t), newHealth(t), newDemo(t), newReplay(t), newRecommend(t), newCompare(t), newProbe(), newPreview(t), newImport(), newSchema(), newVersion())
	return root
}
