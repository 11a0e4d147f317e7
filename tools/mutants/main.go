// Command mutants breaks the code in listed ways, one at a time, and tells whether the tests
// notice. A mutant that no test kills is a promise that nothing checks.
//
// The working tree is never touched: the changed file is handed to the go command as an
// overlay. Run it with -help for the flags and the format of the list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

const usage = `usage: mutants [flags]

Applies every mutant of a list, one at a time, runs the tests that it names, and
reports each as

  killed     a test failed, panicked or ran out of time: good
  SURVIVED   all tests passed: write a test that fails, or drop the mutant
  STALE      the original text is not in the file, or not only once: update it
  BROKEN     the changed code does not compile, which proves nothing: rewrite it

The tests are first run without any change; if they fail, nothing is proved and no
mutant is tried. The exit code is 0 if all mutants were killed, 1 if not, 2 if the
list or the tests cannot be used.

  -list file     list of mutants (default tools/mutants/mutants.txt in the repository)
  -root folder   root of the module under test (default: the nearest folder, from
                 here upwards, with a go.work)
  -run regex     only mutants whose name matches
  -j number      mutants tried at the same time (default 2)
  -timeout time  limit for one run of the tests (default 2m); running out of it kills
  -v             print what the tests of each mutant said
  -n             only check that every mutant fits its file; run nothing

The list consists of blocks separated by empty lines; # starts a comment line:

  name: token bucket: a denial spends
  file: algo/token_bucket.go
  test: ./algo/... ./store/memstore
  after: func decideTokenBucket(
   	if wait > maxWait {
  -		return deny(wait)
  +		s.T = next
  +		return deny(wait)

Lines that start with a space or - are the original, in order; those with a space or
+ replace it. Whole lines are compared, without the white space around them. The
original must occur exactly once; add lines around it, or say after which line it
comes first (after: text of a line that occurs once). The words behind test: go to
"go test" from the root, so that flags such as -run=Bucket can stand there too.
`

// options are the flags of the command.
type options struct {
	list, root string
	run        *regexp.Regexp
	jobs       int
	timeout    time.Duration
	verbose    bool
	dry        bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings passed in; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var mutants []*mutant
	if err == nil {
		mutants, err = readList(opts)
	}
	if err == nil && !opts.dry {
		err = baseline(ctx, opts, mutants, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "mutants: %v\n", err)
		return 2
	}
	if !tryAll(ctx, opts, mutants, stdout) {
		return 1
	}
	return 0
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	opts := &options{}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	flags.StringVar(&opts.list, "list", "", "")
	flags.StringVar(&opts.root, "root", "", "")
	pattern := flags.String("run", "", "")
	flags.IntVar(&opts.jobs, "j", 2, "")
	flags.DurationVar(&opts.timeout, "timeout", 2*time.Minute, "")
	flags.BoolVar(&opts.verbose, "v", false, "")
	flags.BoolVar(&opts.dry, "n", false, "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; to choose mutants by name use -run", flags.Arg(0))
	}
	if opts.jobs < 1 || opts.timeout <= 0 {
		return nil, errors.New("-j and -timeout must be greater than zero")
	}
	var err error
	if opts.run, err = regexp.Compile(*pattern); err != nil {
		return nil, fmt.Errorf("-run is not a regular expression: %w", err)
	}
	return opts, opts.complete()
}

// complete fills in the root and the list where no flag gave them.
func (o *options) complete() error {
	var err error
	if o.root == "" {
		if o.root, err = findRoot(); err != nil {
			return err
		}
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return fmt.Errorf("cannot find the root folder: %w", err)
	}
	if o.list == "" {
		o.list = filepath.Join(o.root, "tools", "mutants", "mutants.txt")
	}
	return nil
}

// findRoot returns the nearest folder with a go.work, from the current one upwards.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return "", errors.New("no folder from here upwards has a go.work; name the root of the module with -root")
	}
	return "", fmt.Errorf("cannot tell the current folder: %w", err)
}
