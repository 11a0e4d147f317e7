package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/probe"
)

// probeFlags are what somebody asks of a probe.
type probeFlags struct {
	targets []string
	request probeRequest
	slo     string
	errors  float64
	margin  float64
	peak    string
	start   string
	most    string
	mine    bool
	rule    string
	json    bool
	o       probe.Options
}

func newProbe() *cobra.Command {
	f := &probeFlags{}
	c := &cobra.Command{
		Use:   "probe --target URL [flags]",
		Short: "Find out how much a service can take, and which limit to write",
		Long: `Probe sends requests to a target at rates that it raises in steps until the latency or
the errors break the goal, closes in on the knee, and repeats that. It prints the capacity
with its range, the latency at every rate, and the rule to write: the capacity times a
safety margin.

The load is open: when each request is sent is fixed in advance, and latency counts from
then, so that no wait is left out. A step ends as soon as it cannot hold any more, and the
probe stops when the target does not recover. Several targets are probed one by one and
then together.

It loads what it is told to: only this machine, unless you say --i-own-this-target. Ctrl-C
ends it with what is known so far.`,
		Example: `  sluice probe --target http://127.0.0.1:8080/api/items
  sluice probe --target http://127.0.0.1:8080/ --slo p90=50ms --margin 0.7 --rule capacity.yaml
  sluice probe --target http://10.0.0.5/ --target http://10.0.0.6/ --peak 5000/s --i-own-this-target`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.add(c)
	return c
}

func (f *probeFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.targets, "target", nil, "address to load; may be given several times, once for each instance")
	c.Flags().StringVar(&f.request.method, "method", http.MethodGet, "of the requests")
	c.Flags().StringArrayVar(&f.request.headers, "header", nil, "of the requests, as in 'Authorization: Bearer x'; may be given several times")
	c.Flags().StringVar(&f.request.body, "body", "", "of the requests")
	c.Flags().StringVar(&f.slo, "slo", "p99=200ms", "goal: so many percent of the requests are answered within this time")
	c.Flags().Float64Var(&f.errors, "errors", 0.01, "goal: no more than this share of requests fails or is answered with a status of 400 or above")
	c.Flags().Float64Var(&f.margin, "margin", 0.8, "the limit is the capacity times this")
	c.Flags().StringVar(&f.peak, "peak", "", "tell how many instances a peak such as 5000/s needs")
	c.Flags().StringVar(&f.start, "start", "10/s", "rate of the first step")
	c.Flags().StringVar(&f.most, "max", "100000/s", "never send more than that")
	c.Flags().DurationVar(&f.o.Hold, "hold", 0, "how long a rate is tried; 0 means 25 times the latency of the goal")
	c.Flags().IntVar(&f.o.Repeats, "repeats", 5, "how many times the knee is looked for")
	c.Flags().DurationVar(&f.o.MaxTime, "time", 5*time.Minute, "end the probe of a target after this time")
	c.Flags().Int64Var(&f.o.MaxCalls, "requests", 1_000_000, "end the probe of a target after so many requests")
	c.Flags().IntVar(&f.o.MaxInFlight, "in-flight", 1000, "how many requests may be under way; those beyond are not sent, and count as failed")
	c.Flags().DurationVar(&f.o.Recovery, "recovery", 10*time.Second, "stop when the target does not answer for so long after a step")
	c.Flags().Uint64Var(&f.o.Seed, "seed", 1, "of the instants at which requests are sent")
	c.Flags().BoolVar(&f.mine, "i-own-this-target", false, "the target is another machine, and you may load it")
	c.Flags().StringVar(&f.rule, "rule", "", "write the rule into this file, too")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func (f *probeFlags) run(c *cobra.Command) error {
	plan, err := f.plan(c.Context())
	if err != nil {
		return usage(err)
	}
	result, failed := plan.run(c.Context(), c.ErrOrStderr())
	if errors.Is(failed, context.Canceled) {
		result.Interrupted, failed = true, nil
	}
	if f.rule != "" && result.Rule != "" {
		if err := os.WriteFile(f.rule, []byte(result.Rule), 0o644); err != nil {
			return usage(fmt.Errorf("--rule: %w", err))
		}
	}
	return errors.Join(f.print(c.OutOrStdout(), result), failed)
}

func (f *probeFlags) print(w io.Writer, r *probeResult) error {
	if f.json {
		return printJSON(w, r)
	}
	return r.writeText(w)
}

// plan reads the flags.
func (f *probeFlags) plan(ctx context.Context) (*probePlan, error) {
	p := &probePlan{margin: f.margin, o: f.o}
	p.o.Now, p.o.Goal.Errors = time.Now, f.errors
	var err error
	if p.o.Goal.Quantile, p.o.Goal.Latency, err = parseGoal(f.slo); err != nil {
		return nil, err
	}
	if !(f.margin > 0 && f.margin <= 1) {
		return nil, fmt.Errorf("--margin %g: use a number above 0 and not above 1, such as 0.8", f.margin)
	}
	if !(f.errors > 0 && f.errors < 1) {
		return nil, fmt.Errorf("--errors %g: use a share between 0 and 1, such as 0.01", f.errors)
	}
	if f.o.Repeats < 1 || f.o.MaxTime <= 0 || f.o.MaxCalls < 1 || f.o.MaxInFlight < 1 || f.o.Recovery <= 0 || f.o.Hold < 0 {
		return nil, errors.New("--repeats, --time, --requests, --in-flight and --recovery have to be above 0, and --hold not below")
	}
	for _, r := range []struct {
		name, text string
		to         *float64
	}{{"start", f.start, &p.o.Start}, {"max", f.most, &p.o.Max}, {"peak", f.peak, &p.peak}} {
		if *r.to, err = parseRate(r.text); err != nil {
			return nil, fmt.Errorf("--%s: %w", r.name, err)
		}
	}
	if p.o.Max < p.o.Start {
		return nil, fmt.Errorf("--max %s is below --start %s", f.most, f.start)
	}
	if len(f.targets) == 0 {
		return nil, errors.New("no target: give --target URL, such as http://127.0.0.1:8080/")
	}
	p.client = newProbeClient(f.o.MaxInFlight)
	for _, address := range f.targets {
		target, err := f.request.target(ctx, p.client, address, f.mine)
		if err != nil {
			return nil, err
		}
		p.targets = append(p.targets, target)
	}
	return p, nil
}

// parseGoal reads p99=200ms.
func parseGoal(text string) (quantile float64, latency time.Duration, err error) {
	percent, bound, ok := strings.Cut(text, "=")
	number, isPercent := strings.CutPrefix(percent, "p")
	n, badNumber := strconv.ParseFloat(number, 64)
	latency, badTime := time.ParseDuration(bound)
	if !ok || !isPercent || badNumber != nil || badTime != nil || !(n >= 50 && n < 100) || latency <= 0 {
		return 0, 0, fmt.Errorf("--slo %q: write the share and the time, such as p99=200ms or p90=50ms", text)
	}
	return n / 100, latency, nil
}

// parseRate reads 5000/s as a number per second; nothing is 0.
func parseRate(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := sluice.Parse(text)
	if err != nil {
		return 0, err
	}
	if limit != sluice.Per(limit.Count, limit.Period) || limit.Count < 1 {
		return 0, fmt.Errorf("%q is no rate: write one such as 5000/s", text)
	}
	return float64(limit.Count) / limit.Period.Seconds(), nil
}

// names returns the addresses of targets.
func (p *probePlan) names() string {
	var all []string
	for _, t := range p.targets {
		all = append(all, t.address)
	}
	return strings.Join(all, ", ")
}
