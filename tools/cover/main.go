// Command cover prints the statement coverage of every package in a coverage profile, and
// fails when a package stays below the minimum given for it.
//
//	cover -min algo=98 -min .=90 profile
//
// The profile may come from many test programs (go test -coverpkg=./...): a statement counts
// as reached when any of them reached it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

const usage = `usage: cover [-module path] [-min package=percent]... profile

Prints the share of statements that tests reach, package by package, from a
profile written by

	go test -coverpkg=./... -coverprofile=profile ./...

and fails when a package is below its minimum, or is missing from the profile.

  -module path          module whose packages are printed without its path
                        (default github.com/sluice-limiter/sluice)
  -min package=percent  minimum of one package; "." is the module's root.
                        May be repeated.
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	minimum := map[string]float64{}
	flags := flag.NewFlagSet("cover", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	module := flags.String("module", "github.com/sluice-limiter/sluice", "")
	flags.Func("min", "", func(text string) error { return addMinimum(minimum, text) })
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() != 1:
		fmt.Fprint(stderr, usage)
		return 2
	}
	text, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		fmt.Fprintf(stderr, "cover: cannot read the profile: %v\n", err)
		return 2
	}
	packages, err := parse(string(text), *module)
	if err != nil {
		fmt.Fprintf(stderr, "cover: %s: %v\n", flags.Arg(0), err)
		return 2
	}
	if !report(stdout, packages, minimum) {
		return 1
	}
	return 0
}

// addMinimum reads one "package=percent".
func addMinimum(minimum map[string]float64, text string) error {
	name, number, _ := strings.Cut(text, "=")
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || percent < 0 || percent > 100 {
		return errors.New("want package=percent with a percentage from 0 to 100, such as algo=98")
	}
	minimum[name] = percent
	return nil
}

// report prints the table and tells whether all minima are met.
func report(w io.Writer, packages map[string]*count, minimum map[string]float64) bool {
	for name := range minimum {
		if packages[name] == nil {
			packages[name] = &count{}
		}
	}
	names := make([]string, 0, len(packages))
	for name := range packages {
		names = append(names, name)
	}
	slices.Sort(names)
	good := true
	for _, name := range names {
		c, least := packages[name], minimum[name]
		remark := ""
		switch {
		case c.statements == 0:
			good, remark = false, "  NOT IN THE PROFILE"
		case c.percent() < least:
			good, remark = false, fmt.Sprintf("  BELOW %g %%", least)
		case least > 0:
			remark = fmt.Sprintf("  (minimum %g %%)", least)
		}
		fmt.Fprintf(w, "%6.1f %%  %5d of %5d  %s%s\n", c.percent(), c.reached, c.statements, name, remark)
	}
	return good
}
