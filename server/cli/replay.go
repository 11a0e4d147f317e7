package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// replayFlags are what somebody asks of a replay.
type replayFlags struct {
	rules  ruleFlags
	log    logFlags
	send   sendFlags
	spread string
	seed   uint64
	sample int64
	top    int
	other  string
	json   bool
	html   string
}

func newReplay(t Terminal) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay [flags] LOG…",
		Short: "Run a real access log through rules and tell who would have been refused",
		Long: `Replay decides every request of one or more access logs by the engine that the server
runs, on a clock that stands at the time of each, and reports whom each rule would have
refused, when and why. Nothing is sent anywhere unless --send says so.

Logs are read as they are: compressed by gzip or zstd, out of order, several merged by
time; - is the standard input. The format is found out, or named by --format: combined,
json, csv, a log_format of nginx, and more. Every line is decided, or rejected with a
reason that is counted.

Ctrl-C ends it with the report of what was read so far.`,
		Example: `  sluice replay --key ip --limit 60/m --algorithm sliding_log access.log
  sluice replay --config rules.yaml --html report.html /var/log/nginx/access.log*
  sluice replay --config rules.yaml --compare stricter.yaml access.log.gz
  sluice replay --config rules.yaml --format '$remote_addr [$time_iso8601] "$request" $status' access.log
  sluice replay --limit 10/s --json --format csv --field ip=client --field time=ts requests.csv
  sluice replay --config rules.yaml --send http://127.0.0.1:8080 --speed 10 access.log`,
		Args: cobra.MinimumNArgs(1),
	}
	f.rules.add(c)
	f.log.add(c)
	f.send.add(c)
	c.Flags().StringVar(&f.spread, "spread", "start", "where in its second a request came if the log does not tell: start, uniform, random")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of --spread random")
	c.Flags().Int64Var(&f.sample, "sample", replay.DefaultSample, "over how many requests the answers of all spreads are compared; 0: none")
	c.Flags().IntVar(&f.top, "top", replay.DefaultTop, "how many keys to list")
	c.Flags().StringVar(&f.other, "compare", "", "tell who would be newly refused by this rule file, and who no longer")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().StringVar(&f.html, "html", "", "write the report with charts into this file, which needs no other")
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args, t) }
	return c
}

// run replays the logs and prints the report.
func (f *replayFlags) run(c *cobra.Command, args []string, t Terminal) error {
	set, err := f.rules.set()
	if err != nil {
		return err
	}
	spread, err := replay.ParseSpread(f.spread)
	if err != nil {
		return usage(err)
	}
	opts := replay.Options{Spread: spread, Seed: f.seed, Sample: f.sample, Top: f.top}
	if f.sample <= 0 {
		opts.Sample = -1
	}
	if f.other != "" {
		loaded, err := load(f.other)
		if err != nil {
			return err
		}
		opts.Other = loaded.Set
	}
	defer thrifty()()
	log, report, err := f.inOrder(c, set, args, t, opts)
	if err != nil {
		return err
	}
	report.Counted(log.Lines())
	report.Interrupted = c.Context().Err() != nil
	if err := f.print(c.OutOrStdout(), report); err != nil {
		return err
	}
	return f.verdict(log, report)
}

// inOrder replays the logs, a second time if only all of them can be put into order: most
// logs need no more than a look at the next lines, which costs less. What was sent is not
// sent again.
func (f *replayFlags) inOrder(c *cobra.Command, set *rule.Set, names []string, t Terminal, o replay.Options) (*accesslog.Log, *replay.Report, error) {
	f.log.strict = f.send.target == ""
	log, err := f.log.open(names, t.In)
	if err != nil {
		return nil, nil, err
	}
	report, err := f.replay(c, set, log, o)
	if err != nil || !f.log.again(c, log) {
		return log, report, err
	}
	if log, err = f.log.open(names, t.In); err != nil {
		return nil, nil, err
	}
	report, err = f.replay(c, set, log, o)
	return log, report, err
}

// replay decides the log, and sends it if that is asked for.
func (f *replayFlags) replay(c *cobra.Command, set *rule.Set, log *accesslog.Log, o replay.Options) (*replay.Report, error) {
	if f.send.target != "" {
		return f.send.run(c, set, log, o)
	}
	defer showProgress(c.ErrOrStderr(), log)()
	return replay.Run(set, log.Entries(c.Context()), o)
}

// thrifty lets the collector keep the heap closer to what is in use: most of what a
// replay keeps has no pointers to follow. The function that it returns undoes that.
func thrifty() func() {
	before := debug.SetGCPercent(40)
	return func() { debug.SetGCPercent(before) }
}

// print prints the report, whatever becomes of the file: a long log is not read twice.
func (f *replayFlags) print(w io.Writer, r *replay.Report) (err error) {
	if f.html != "" {
		err = writeFile(f.html, r.WriteHTML)
	}
	if f.json {
		return errors.Join(printJSON(w, r), err)
	}
	return errors.Join(r.WriteText(w), err)
}

// writeFile writes a file.
func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return usage(fmt.Errorf("--html: %w", err))
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

// verdict tells what makes the report less than it should be.
func (f *replayFlags) verdict(log *accesslog.Log, r *replay.Report) error {
	if err := log.Err(); err != nil && !r.Interrupted {
		return err
	}
	if l := r.Live; l != nil && l.Sent > 0 && l.Failed == l.Sent && !r.Interrupted {
		return fmt.Errorf("--send %s: no request was answered: %s", l.Target, l.Error)
	}
	if r.Lines.Total == 0 && !r.Interrupted {
		return errors.New("the log is empty")
	}
	if r.Requests == 0 && !r.Interrupted {
		return errors.New("no request was found in the log: see which lines were rejected, and name the --format")
	}
	return nil
}
