package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/recommend"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// recommendFlags are what somebody asks of a recommendation.
type recommendFlags struct {
	log        logFlags
	rule       string
	server     *remote
	name       string
	key        string
	methods    []string
	paths      []string
	allow      []string
	labels     string
	algorithms []string
	period     time.Duration
	requests   float64
	keys       float64
	seed       uint64
	spread     string
	write      string
	svg        string
	json       bool
}

func newRecommend(t Terminal) *cobra.Command {
	f := &recommendFlags{}
	c := &cobra.Command{
		Use:   "recommend [flags] LOG… | recommend [flags] --rule NAME",
		Short: "Find the limit for the traffic of an access log or a server, with an error bar",
		Long: `Recommend finds the smallest limit that would have refused hardly anybody who should not
be refused. It is fitted to the first 70 % of the time and checked on the rest; the bound
that it prints holds with 95 % confidence.

Scanners, attackers and keys far out do not count, so that they do not drive the limit up:
they are listed, and --labels FILE knows better (lines such as "good 192.0.2.7" or
"bad 198.51.100.0/24"). Addresses of --allow are exempt from the rule.

With --rule it asks a running server for what that remembers of the rule's requests. Keys
are hashed there, and answers and addresses not remembered: the busiest are judged by how
busy they are alone.

With fewer than 1,000 keys or 2 days it refuses, with exit code 3.`,
		Example: `  sluice recommend access.log
  sluice recommend --write rules.yaml /var/log/nginx/access.log*
  sluice recommend --key ip --path /login --method POST --period 1m access.log
  sluice recommend --rule login --server http://10.0.0.7:8080
  sluice recommend --algorithm sliding_log --requests 0.1 --keys 0.5 --json access.log.gz`,
	}
	f.add(c)
	f.server = serverFlags(c, t)
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args, t) }
	return c
}

func (f *recommendFlags) add(c *cobra.Command) {
	f.log.add(c)
	c.Flags().StringVar(&f.rule, "rule", "", "of a running server: from its record, in place of a log")
	c.Flags().StringVar(&f.key, "key", "ip", "what makes up the key, such as ip, user, ip+header:X-Api-Key")
	c.Flags().StringVar(&f.name, "name", "", "of the rule; per-ip for the key ip, and so on")
	c.Flags().StringArrayVar(&f.paths, "path", nil, "only requests for this path, such as /login or /api/*; may be given several times")
	c.Flags().StringArrayVar(&f.methods, "method", nil, "only requests by this method")
	c.Flags().StringArrayVar(&f.allow, "allow", nil, "an address or network that is exempt, such as your own monitor's")
	c.Flags().StringVar(&f.labels, "labels", "", "file with lines such as good 192.0.2.7, bad 198.51.100.0/24, good alice: what you know of keys")
	c.Flags().StringArrayVar(&f.algorithms, "algorithm", nil, "token_bucket, sliding_log, sliding_window or fixed_window; all of them if not given")
	c.Flags().DurationVar(&f.period, "period", time.Minute, "per which the limit counts: 1s, 1m, 1h")
	c.Flags().Float64Var(&f.requests, "requests", 100*recommend.DefaultTarget.Requests, "how many percent of the requests of those who count may be refused")
	c.Flags().Float64Var(&f.keys, "keys", 100*recommend.DefaultTarget.Keys, "how many percent of their keys may be refused at least once")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the drawings for the bound: the same seed gives the same answer")
	c.Flags().StringVar(&f.spread, "spread", "start", "where in its second a request came if the log does not tell: start, uniform, random")
	c.Flags().StringVar(&f.write, "write", "", "write a rule file with the first limit, in shadow, and why")
	c.Flags().StringVar(&f.svg, "svg", "", "write a picture of what smaller and larger limits refuse into this file")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// run reads the traffic, and prints what is recommended.
func (f *recommendFlags) run(c *cobra.Command, args []string, t Terminal) error {
	if err := f.check(c, args); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return usage(err)
	}
	report, err := f.recommend(c, args, t, opts)
	if thin := (*recommend.ThinError)(nil); errors.As(err, &thin) {
		return &codeError{exitNo, f.shortRecord(err)}
	}
	if err != nil {
		return err
	}
	return f.print(c.OutOrStdout(), report)
}

// recommend makes the report for a log, or for the record of a rule.
func (f *recommendFlags) recommend(c *cobra.Command, args []string, t Terminal, opts recommend.Options) (*recommend.Report, error) {
	if f.rule == "" {
		return f.ofLogs(c, args, t, opts)
	}
	of, log, body, err := f.openRecord(c.Context())
	if err != nil {
		return nil, err
	}
	defer body.Close()
	report, err := f.fit(c, log, rule.Rule{Name: of.Name, Key: []string{recorded}}, opts)
	if err == nil {
		report.Key, report.Match, report.Skip, report.Missing, report.Cost = of.Key, of.Match, of.Skip, of.Missing, of.Cost
	}
	return report, err
}

// ofLogs makes the report for logs, which are read a second time if only all of them can
// be put into order.
func (f *recommendFlags) ofLogs(c *cobra.Command, args []string, t Terminal, opts recommend.Options) (*recommend.Report, error) {
	f.log.strict = true
	for {
		log, err := f.log.open(args, t.In)
		if err != nil {
			return nil, err
		}
		report, err := f.fit(c, log, f.ruleOfFlags(), opts)
		if !f.log.again(c, log) {
			return report, err
		}
	}
}

// fit reads all of a log, and finds limits for it.
func (f *recommendFlags) fit(c *cobra.Command, log *accesslog.Log, r rule.Rule, opts recommend.Options) (*recommend.Report, error) {
	spread, err := replay.ParseSpread(f.spread)
	if err != nil {
		return nil, usage(err)
	}
	stop := showProgress(c.ErrOrStderr(), log)
	traffic, err := recommend.Collect(r, replay.Retime(until(c.Context(), log), spread, f.seed, nil))
	stop()
	switch {
	case err != nil:
		return nil, usage(err)
	case c.Context().Err() != nil:
		return nil, errors.New("interrupted while reading: a part of a log is no basis for a limit; nothing is recommended or written")
	case log.Err() != nil:
		return nil, log.Err()
	case log.Lines().Late > 0: // of a pipe, which cannot be read again
		return nil, fmt.Errorf("%s lines came later than the window that is sorted, and the log cannot be read again: --sort puts it in order", count(log.Lines().Late))
	}
	report, err := recommend.Run(c.Context(), traffic, opts)
	if errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("interrupted: all was read, but not yet fitted (%w); nothing is recommended or written", err)
	}
	if thin := (*recommend.ThinError)(nil); err != nil && !errors.As(err, &thin) {
		return nil, usage(err)
	}
	if err != nil {
		return nil, err
	}
	var counted replay.Report
	counted.Counted(log.Lines())
	report.Lines = counted.Lines
	return report, nil
}

// until gives out a log until ctx ends: what was read before that is of no use, and a log
// that is sorted may hold much of it.
func until(ctx context.Context, log *accesslog.Log) iter.Seq[*accesslog.Entry] {
	return func(yield func(*accesslog.Entry) bool) {
		for e := range log.Entries(ctx) {
			if ctx.Err() != nil || !yield(e) {
				return
			}
		}
	}
}

func (f *recommendFlags) print(w io.Writer, r *recommend.Report) error {
	if f.write != "" {
		if err := writeTo("--write", f.write, os.O_EXCL, r.WriteRules); err != nil {
			return err
		}
	}
	if f.svg != "" {
		if err := writeTo("--svg", f.svg, os.O_TRUNC, r.WriteSVG); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(w, r)
	}
	if err := r.WriteText(w); err != nil {
		return err
	}
	if f.write != "" {
		fmt.Fprintf(w, "\nWritten to %s, in shadow: sluice serve --config %s refuses nobody, and tells whom it would.\n", f.write, f.write)
	}
	return nil
}

// writeTo writes a file that a flag names. With os.O_EXCL it must not be there yet: rules
// may be in force by it.
func writeTo(flag, name string, how int, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("%s %s: the file is there already, and may be in force: name another", flag, name))
	}
	if err != nil {
		return usage(fmt.Errorf("%s: %w", flag, err))
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// ruleOfFlags returns whom the limit is for.
func (f *recommendFlags) ruleOfFlags() rule.Rule {
	r := rule.Rule{Name: f.name, Match: rule.Match{Methods: f.methods, Paths: f.paths}, Skip: rule.Skip{IPs: f.allow}}
	if f.key != "" {
		r.Key = strings.Split(f.key, "+")
	}
	if r.Name == "" {
		r.Name = "per-" + strings.Map(nameRune, f.key)
	}
	return r
}

// nameRune makes names of keys: ip+header:X-Api-Key is ip-header-X-Api-Key.
func nameRune(r rune) rune {
	if strings.ContainsRune("+:/ ", r) {
		return '-'
	}
	return r
}

func (f *recommendFlags) options() (o recommend.Options, err error) {
	o = recommend.Options{Period: f.period, Seed: f.seed, Target: recommend.Rates{Requests: f.requests / 100, Keys: f.keys / 100}}
	for _, name := range f.algorithms {
		o.Algorithms = append(o.Algorithms, sluice.Algorithm(name))
	}
	if f.labels != "" {
		o.Labels, err = readLabels(f.labels)
	}
	return o, err
}

// readLabels reads what somebody knows of keys.
func readLabels(name string) (l recommend.Labels, err error) {
	file, err := os.Open(name)
	if err != nil {
		return l, fmt.Errorf("--labels: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		label, key, _ := strings.Cut(strings.TrimSpace(text), " ")
		key = strings.TrimSpace(key)
		switch {
		case label == "":
		case label == "good" && key != "":
			l.Good = append(l.Good, key)
		case label == "bad" && key != "":
			l.Bad = append(l.Bad, key)
		default:
			return l, fmt.Errorf("--labels %s:%d: %q: write good or bad, and a key, an address or a network", name, n, lines.Text())
		}
	}
	return l, lines.Err()
}
