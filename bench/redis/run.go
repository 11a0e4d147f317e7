package redis

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Config says what to run.
type Config struct {
	frame.Config
	Peers *regexp.Regexp // nil: all; ours and the floors always run
}

// Runner runs cases and gathers their results.
type Runner struct {
	cfg         Config
	out         io.Writer
	progress    io.Writer
	rand        *rand.Rand
	server      *server
	contestants []Contestant
	verdicts    map[string]verdict
	results     []Result
}

// job runs cases that share a lineup; it is given the names that were picked.
type job struct {
	names []string
	// peers says that the cases compare with peers, whose exactness must be
	// known.
	peers bool
	run   func(r *Runner, picked []string) error
}

// jobs lists all cases in their order.
func jobs() []job {
	return []job{
		{speedNames("one-key"), true, func(r *Runner, picked []string) error { return r.speed("one-key", 1, picked) }},
		{speedNames("100k-keys"), true, func(r *Runner, picked []string) error { return r.speed("100k-keys", 100_000, picked) }},
		{pairNames(severalCases()), false, func(r *Runner, picked []string) error {
			return r.pairs(severalCases(), picked, r.reportSeveral)
		}},
		{pairNames(coalescerCases()), false, func(r *Runner, picked []string) error {
			return r.pairs(coalescerCases(), picked, r.reportCoalescer)
		}},
		{[]string{"bytes-per-key"}, true, (*Runner).bytesPerKey},
		{[]string{"hot-denied"}, true, (*Runner).hotDenied},
		{[]string{"lease-one"}, false, (*Runner).hotLeased},
		{[]string{"lease-fleet"}, false, (*Runner).fleet},
	}
}

// CaseNames lists the names of all cases.
func CaseNames() []string {
	var names []string
	for _, j := range jobs() {
		names = append(names, j.names...)
	}
	return names
}

// Run starts a server and runs the cases of the configuration. Tables go to out
// as they are ready, the lines for scripts at the end; progress is told on the
// other writer.
func Run(cfg Config, out, progress io.Writer) ([]Result, error) {
	s, err := startServer()
	if err != nil {
		return nil, err
	}
	defer s.close()
	r := &Runner{cfg: cfg, out: out, progress: progress, rand: newRand(cfg.Seed), server: s, verdicts: map[string]verdict{}}
	for _, c := range Contestants() {
		if c.Kind != Peer && c.Kind != Tuned || cfg.Peers == nil || cfg.Peers.MatchString(c.Name) {
			r.contestants = append(r.contestants, c)
		}
	}
	r.header()
	if err := r.runAll(cfg.picked()); err != nil {
		return nil, err
	}
	for _, res := range r.results {
		fmt.Fprintln(out, res.Line())
	}
	writeLosses(out, r.results)
	return r.results, nil
}

// picked returns the jobs with the cases that are to run.
func (c Config) picked() []job {
	var js []job
	for _, j := range jobs() {
		j.names = slices.DeleteFunc(j.names, func(name string) bool { return !c.Runs(name) })
		if len(j.names) > 0 {
			js = append(js, j)
		}
	}
	return js
}

func (r *Runner) runAll(js []job) error {
	if slices.ContainsFunc(js, func(j job) bool { return j.peers }) {
		if err := r.checkAll(); err != nil {
			return err
		}
	}
	for _, j := range js {
		if err := r.server.flush(); err != nil {
			return err
		}
		if err := j.run(r, j.names); err != nil {
			return fmt.Errorf("%s: %w", j.names[0], err)
		}
	}
	return nil
}

func (r *Runner) add(res Result) {
	r.results = append(r.results, res)
	if !res.NoTable {
		res.Table(r.out)
	}
}

func (r *Runner) say(format string, args ...any) {
	fmt.Fprintf(r.progress, format+"\n", args...)
}
